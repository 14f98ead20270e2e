// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/comm/timer.hpp"
#include "eb/link/faces.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"
#include "transport/volumes/gradient_weights.hpp"
#include "transport/volumes/special_volumes.hpp"

namespace karst {
namespace {

/// What a rank tells others of a volume.
struct VolumeFacts {
  GlobalNumber number;
  Index cell;
  Vec3 centroid;  ///< from the centre of the cell / h
  double kappa;
  bool regular, inside;
};

/// A face as the rank that lists it sends it to that of its right volume.
struct SentFace {
  GlobalNumber left, right;
  MadeFace face;
  std::int32_t level;  ///< faces between levels: the coarser one
  std::int32_t
      place;  ///< extra: how many between the two across the direction came before; between levels: in the list
};

using Kind = ScalarGrid::Place::Kind;

/// A face that is in none of the d n_all + v places, before numbers of remote volumes are known.
struct OtherFace {
  GlobalNumber left, right;
  MadeFace face;
  ScalarGrid::Place place, second;  ///< second: of an extra face whose two volumes are own
  bool has_second = false, foreign = false;
  BoundaryFace boundary{};
  int before = 0;  ///< extra: faces between the same two across the direction that came before
};

/// The two volumes of an extra face, its direction, and how many between them across it came before.
using ExtraKey = std::tuple<GlobalNumber, GlobalNumber, int, int>;

/// An extra face as its high volume has it.
struct HighExtra {
  ExtraKey key;
  ScalarGrid::Place place;
};

/// Extra faces of one volume through a side to another one, in the order in which they come.
class ExtraFacesOfVolume {
 public:
  /// How many came before.
  int add(GlobalNumber own, GlobalNumber other, int side) {
    if (own != own_) {
      own_ = own;
      some_.clear();
    }
    for (Some& s : some_)
      if (s.other == other && s.side == side) return s.n++;
    some_.push_back({other, side, 1});
    return 0;
  }

 private:
  struct Some {
    GlobalNumber other;
    int side, n;
  };
  GlobalNumber own_ = no_unknown;
  std::vector<Some> some_;
};

/// What is listed of a box.
struct BoxOfMaker {
  int level, box;
  FacesOfBox primary;  ///< faces of this kind between own volumes, or with one of another rank
  std::vector<ScalarGrid::Place> read_only;
  std::vector<OtherFace> others;
  std::vector<SentFace> sent;  ///< to right volumes of other ranks
  std::vector<GlobalNumber> wanted;
  std::vector<HighExtra> high_extra;  ///< extra faces whose high volume is in the box; by key
  ExtraFacesOfVolume seen;

  const ScalarGrid::Place& high(const ExtraKey& key) const {
    return std::ranges::lower_bound(high_extra, key, {}, &HighExtra::key)->place;
  }
};

class Maker {
 public:
  Maker(std::shared_ptr<const Composite> composite, const std::vector<GivenSides>& given) : given_(given) {
    grid_.composite = std::move(composite);
    const Composite& c = *grid_.composite;
    grid_.n_own = static_cast<std::int32_t>(c.numbering().n_own());
    for (int l = 0; l < c.n_levels(); ++l) {
      numbers_.push_back(c.numbering().global_numbers(c.comm(), c.graph(l), l));
      for (int b = 0; b < c.graph(l).n_local(); ++b) {
        boxes_.push_back({l, b, {}, {}, {}, {}, {}, {}, {}});
        boxes_.back().primary.begin = c.numbering().box_begin(l, b);
        boxes_.back().primary.end = c.numbering().box_end(l, b);
      }
    }
  }
  ScalarGrid make();

 private:
  const Composite& composite() const { return *grid_.composite; }
  const CompositeNumbering& numbering() const { return grid_.composite->numbering(); }
  std::int32_t index(GlobalNumber g) const {
    return numbering().is_own(g) ? static_cast<std::int32_t>(g - numbering().first())
                                 : grid_.n_own + grid_.remote.place(g);
  }
  const VolumeFacts& facts_at(std::int32_t i) const {
    return i < grid_.n_own ? facts_[i] : remote_facts_[i - grid_.n_own];
  }
  const VolumeFacts& facts(GlobalNumber g) const { return facts_at(index(g)); }
  /// Calls f(box) for the own boxes of all levels, threaded.
  template <class F>
  void for_boxes(F&& f) {
    parallel_for_dynamic(std::ssize(boxes_), [&](std::int64_t i) { f(boxes_[i]); });
  }
  BoxOfMaker& box_with(std::int32_t own) {
    const auto begin = [](const BoxOfMaker& b) { return b.primary.begin; };
    return *std::prev(std::ranges::upper_bound(boxes_, own, {}, begin));
  }
  void list_facts();
  void list_facts(const BoxOfMaker& box);
  std::map<VofName, VolumeFacts> facts_of(int level, std::vector<VofName> names) const;
  void list_between_levels(int level);
  void fetch_facts();
  void find_beside(const BoxOfMaker& box);
  void find_plain(const BoxOfMaker& box);
  void list_faces(BoxOfMaker& box);
  void list_primary(BoxOfMaker& box, const FaceView& f);
  void list_extra(BoxOfMaker& box, const FaceView& f, std::int64_t place);
  void list_end(BoxOfMaker& box, const FaceView& f, std::int64_t extra, std::int64_t slot_begin);
  Index step(const Index& from, const Index& to, int level, int side) const;
  void set_volumes();
  void exchange_extra();
  void number_others();
  void list_plain();
  void list_special();
  void add_gradients();
  void count();

  ScalarGrid grid_;
  std::vector<GivenSides> given_;
  std::vector<NumberField> numbers_;
  std::vector<BoxOfMaker> boxes_;          // by increasing volumes
  Array<VolumeFacts> facts_;               // own
  std::vector<VolumeFacts> remote_facts_;  // in the order of grid_.remote
  std::vector<GlobalNumber> wanted_;
  std::vector<OtherFace> others_;
  using Beside = std::array<std::int32_t, 6>;
  Array<Beside> beside_;  // per own volume: across the six sides, -1: no such neighbour
  std::vector<std::uint8_t> is_plain_;
};

/// aperture h² / distance; 0 at isolated fragments that are too small for the aperture.
double conductance_between(const VolumeFacts& a, const VolumeFacts& b, double aperture, double h, double distance) {
  const auto too_small = [&](const VolumeFacts& f) { return !f.inside && aperture > crumb * f.kappa; };
  return too_small(a) || too_small(b) ? 0.0 : aperture * h * h / distance;
}

void Maker::list_facts() {
  facts_ = Array<VolumeFacts>(grid_.n_own, Purpose::buffers);
  grid_.slots.resize(facts_.size());
  grid_.centroid = Array<Vec3>(facts_.size(), Purpose::geometry);
  for (int l = 0; l < composite().n_levels(); ++l)
    grid_.level_begin.push_back(static_cast<std::int32_t>(numbering().level_begin(l)));
  grid_.level_begin.push_back(grid_.n_own);
  for_boxes([&](const BoxOfMaker& box) { list_facts(box); });
}

void Maker::list_facts(const BoxOfMaker& box) {
  const LevelGeometry& level = composite().level(box.level);
  const BoxGraph graph = level.graph.box(box.box);
  const BoxMoments moments = level.box(box.box);
  std::vector<std::int32_t> row(graph.n_own, -1);
  for (int r = 0; r < graph.n_irregular; ++r) row[graph.row_vof[r]] = r;
  for_each_vof(graph, [&](int vof, int cell) {
    const std::int32_t n = numbering().number(box.level, box.box, vof);
    if (n < 0) return;
    const std::int32_t r = row[vof];
    const Index at = graph.cells.cell(cell);
    VolumeFacts f{numbering().first() + n, at, {}, 1.0, r < 0, true};
    if (r >= 0) {
      f.centroid = moments.moments[r].centroid;
      f.kappa = moments.moments[r].kappa;
      f.inside = moments.centers.empty() || moments.centers[r].inside;
    }
    facts_[n] = f;
    grid_.slots[n] = level.graph.slot_begin(box.box) + vof;
    grid_.centroid[n] = Composite::width(box.level) * (Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5} + f.centroid);
  });
}

/// Of VoFs on any ranks. Collective.
std::map<VofName, VolumeFacts> Maker::facts_of(int level, std::vector<VofName> names) const {
  const Composite& c = composite();
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::map<int, ByteWriter> questions;
  for (const VofName v : names) questions[c.graph(level).layout().owner(box_of(v))].put(v);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto v = in.get<VofName>();
    const std::int32_t n = numbering().number(level, c.graph(level).local(box_of(v)), vof_of(v));
    w.put(v);
    w.put(n < 0 ? VolumeFacts{no_unknown, {}, {}, 0.0, false, false} : facts_[n]);
  };
  std::map<VofName, VolumeFacts> found;
  ask_ranks(c.comm(), std::move(questions), answer, [&](ByteReader& in, int) {
    const auto v = in.get<VofName>();
    found[v] = in.get<VolumeFacts>();
  });
  return found;
}

/// Faces between `level` and the next finer one: listed by the rank of the fine volume, their left one.
void Maker::list_between_levels(int level) {
  const Composite& c = composite();
  const auto faces = c.coarse_fine(level);
  std::vector<VofName> names;
  for (const LevelFace& f : faces)
    if (f.behind.found) names.push_back(f.behind.vof);
  const auto coarse = facts_of(level, names);
  const double h = Composite::width(level + 1);
  std::map<int, ByteWriter> to_owner;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const LevelFace& f = faces[i];
    if (!f.behind.found) continue;
    const LevelGraph& graph = c.graph(level + 1);
    const std::int32_t fine = numbering().number(level + 1, graph.local(box_of(f.vof)), vof_of(f.vof));
    const VolumeFacts& left = facts_[fine];
    const VolumeFacts& right = coarse.at(f.behind.vof);
    const Vec3 across = 2.0 * h * (f.behind.center + right.centroid - f.own_center()) - h * left.centroid;
    OtherFace o{left.number, right.number, {}, {}, {}, false, false, {}, 0};
    o.face.direction = static_cast<std::uint8_t>(direction_of(f.face.side));
    o.face.fragment = !left.inside || !right.inside;
    o.face.conductance = conductance_between(left, right, f.face.aperture, h, 1.5 * h);
    o.face.at.from_left = h * (f.face.centroid - left.centroid);
    o.face.at.from_right = o.face.at.from_left - across;
    o.place = {Kind::coarse_fine,           static_cast<std::uint8_t>(level), o.face.direction, 1, -1,
               static_cast<std::int64_t>(i)};
    others_.push_back(o);
    if (numbering().is_own(right.number)) continue;
    wanted_.push_back(right.number);
    to_owner[numbering().owner(right.number)].put(
        SentFace{o.left, o.right, o.face, level, static_cast<std::int32_t>(i)});
  }
  const auto remote = c.remote_entrances(level);
  send_to_ranks(c.comm(), std::move(to_owner), [&](ByteReader& in, int rank) {
    const auto s = in.get<SentFace>();
    const auto at = std::ranges::lower_bound(remote, RemoteItem{rank, s.place}) - remote.begin();
    OtherFace o{s.left, s.right, s.face, {}, {}, false, true, {}, 0};
    o.place = {Kind::entering, static_cast<std::uint8_t>(level), s.face.direction, 1, -1, std::ssize(faces) + at};
    others_.push_back(o);
    wanted_.push_back(s.left);
  });
}

void Maker::fetch_facts() {
  for_boxes([&](BoxOfMaker& box) {
    if (composite().comm().size() == 1) return;
    const BoxGraph graph = composite().graph(box.level).box(box.box);
    const auto numbers = numbers_[box.level].box(box.box);
    for_each_face(graph, [&](int vof, int, int slot) {
      const GlobalNumber g = slot < graph.n_own ? no_unknown : numbers[slot];
      if (numbers[vof] >= 0 && g >= 0 && is_vof(graph.name(slot)) && !numbering().is_own(g)) box.wanted.push_back(g);
    });
  });
  for (const BoxOfMaker& box : boxes_) wanted_.insert(wanted_.end(), box.wanted.begin(), box.wanted.end());
  RemoteValues<VolumeFacts> values(composite().comm(), numbering(), std::move(wanted_));
  values.begin(facts_.span());
  values.finish();
  remote_facts_.assign(values.values().begin(), values.values().end());
  grid_.remote = std::move(values);
  grid_.n_all = grid_.n_own + static_cast<std::int32_t>(remote_facts_.size());
}

/// Neighbours on grid lines of one level.
void Maker::find_beside(const BoxOfMaker& box) {
  const BoxGraph graph = composite().graph(box.level).box(box.box);
  const auto numbers = numbers_[box.level].box(box.box);
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& neighbours) {
    if (numbers[vof] < 0) return;
    Beside& beside = beside_[index(numbers[vof])];
    for (std::size_t side = 0; side < 6; ++side) {
      const GlobalNumber there = numbers[neighbours[side]];
      beside[side] = there < 0 ? -1 : index(there);
    }
  });
}

void Maker::find_plain(const BoxOfMaker& box) {
  for (std::int32_t v = box.primary.begin; v < box.primary.end; ++v) {
    const auto regular = [&](std::int32_t j) { return j >= 0 && facts_at(j).regular; };
    is_plain_[v] = facts_[v].regular && std::ranges::all_of(beside_[v], regular) ? 1 : 0;
  }
}

Index Maker::step(const Index& from, const Index& to, int level, int side) const {
  return step_across(composite().graph(level).layout().domain(), from, to, side);
}

void Maker::list_primary(BoxOfMaker& box, const FaceView& f) {
  const auto numbers = numbers_[box.level].box(box.box);
  const GlobalNumber own = numbers[f.vof];
  const GlobalNumber other = numbers[f.neighbour];
  const std::int32_t i = index(own), j = index(other);
  const bool high = is_high(f.side);
  if (high && numbering().is_own(other)) return;  // listed by its high volume
  if (own == other) return;                       // one cell in a periodic direction
  if (!high && is_plain_[i] != 0 && (j >= grid_.n_own || is_plain_[j] != 0)) return;  // in no list
  const VolumeFacts &mine = facts(own), &theirs = facts(other);
  const int d = direction_of(f.side);
  const double h = Composite::width(box.level);
  const Vec3 from_own = h * (f.centroid - mine.centroid);
  const Vec3 from_other = h * (f.centroid - to_vec(step(mine.cell, theirs.cell, box.level, f.side)) - theirs.centroid);
  MadeFace face{};
  face.face = d * grid_.n_all + (high ? j : i);
  face.left = high ? i : j;
  face.right = high ? j : i;
  face.direction = static_cast<std::uint8_t>(d);
  face.fragment = !mine.inside || !theirs.inside;
  face.at.from_left = high ? from_own : from_other;
  face.at.from_right = high ? from_other : from_own;
  face.conductance =
      conductance_between(mine, theirs, f.aperture, h, std::max(0.5 * h, face.at.from_left[d] - face.at.from_right[d]));
  if (!high && j < grid_.n_own && (j < box.primary.begin || j >= box.primary.end))
    box.primary.crossing.push_back(static_cast<std::int32_t>(box.primary.faces.size()));
  box.primary.faces.push_back(face);
  if (high)  // its place is the slot of a volume of another rank
    box.read_only.push_back({Kind::primary, static_cast<std::uint8_t>(box.level), face.direction, 1, face.face,
                             composite().graph(box.level).slot_begin(box.box) + f.neighbour});
}

void Maker::list_extra(BoxOfMaker& box, const FaceView& f, std::int64_t place) {
  const int level = box.level;
  const auto numbers = numbers_[level].box(box.box);
  const GlobalNumber own = numbers[f.vof];
  const GlobalNumber other = numbers[f.neighbour];
  const bool high = is_high(f.side);
  const int d = direction_of(f.side);
  const GlobalNumber low = high ? own : other, above = high ? other : own;
  const int before = box.seen.add(own, other, f.side);
  const auto sign = static_cast<std::int8_t>(high ? 1 : -1);
  const ScalarGrid::Place at{Kind::extra, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(d), sign, -1,
                             place};
  if (!high) {
    box.high_extra.push_back({{low, above, d, before}, at});
    return;
  }
  const VolumeFacts &mine = facts(own), &theirs = facts(other);
  const double h = Composite::width(level);
  OtherFace o{own, other, {}, at, {}, false, false, {}, 0};
  o.face.direction = static_cast<std::uint8_t>(d);
  o.face.fragment = !mine.inside || !theirs.inside;
  o.face.at.from_left = h * (f.centroid - mine.centroid);
  o.face.at.from_right = h * (f.centroid - to_vec(step(mine.cell, theirs.cell, level, f.side)) - theirs.centroid);
  o.face.conductance = conductance_between(mine, theirs, f.aperture, h,
                                           std::max(0.5 * h, o.face.at.from_left[d] - o.face.at.from_right[d]));
  o.before = before;
  if (!numbering().is_own(other)) box.sent.push_back({own, other, o.face, level, before});
  box.others.push_back(o);
}

/// A face on an end of the domain.
/// @param extra  its place among the extra faces; -1: a primary one
void Maker::list_end(BoxOfMaker& box, const FaceView& f, std::int64_t extra, std::int64_t slot_begin) {
  const int level = box.level, d = direction_of(f.side);
  const GlobalNumber own = numbers_[level].box(box.box)[f.vof];
  const VolumeFacts& mine = facts(own);
  const double h = Composite::width(level);
  OtherFace o{own, no_unknown, {}, {}, {}, false, false, {}, 0};
  o.face.direction = static_cast<std::uint8_t>(d);
  o.face.fragment = !mine.inside;
  o.face.at.from_left = h * (f.centroid - mine.centroid);
  o.face.conductance =
      conductance_between(mine, mine, f.aperture, h, std::max(0.1 * h, std::abs(o.face.at.from_left[d])));
  const auto l = static_cast<std::uint8_t>(level), dir = static_cast<std::uint8_t>(d);
  if (extra >= 0)
    o.place = {Kind::extra, l, dir, 1, -1, extra};
  else if (is_high(f.side))
    o.place = {Kind::primary, l, dir, 1, -1, slot_begin + f.neighbour};
  else
    o.place = {Kind::primary, l, dir, -1, -1, slot_begin + f.vof};
  o.boundary = {-1, index(own), f.side, h * (to_vec(mine.cell) + Vec3::all(0.5) + f.centroid)};
  box.others.push_back(o);
}

void Maker::list_faces(BoxOfMaker& box) {
  const LevelGeometry& geometry = composite().level(box.level);
  const BoxGraph graph = geometry.graph.box(box.box);
  const auto numbers = numbers_[box.level].box(box.box);
  const std::int64_t slot_begin = geometry.graph.slot_begin(box.box);
  std::int64_t extra = geometry.extra_begin[box.box];
  // Of a plain volume between plain ones no face is in a list, but where the high one is of another rank.
  const auto is_listed = [&](int vof) {
    if (numbers[vof] < 0) return false;
    const std::int32_t v = index(numbers[vof]);
    if (is_plain_[v] == 0) return true;
    const auto is_open = [&](std::int32_t low) { return low < grid_.n_own && is_plain_[low] == 0; };
    const Beside& b = beside_[v];
    return is_open(b[0]) || is_open(b[2]) || is_open(b[4]) || std::max({b[1], b[3], b[5]}) >= grid_.n_own;
  };
  box.primary.faces.reserve(2 * static_cast<std::size_t>(box.primary.end - box.primary.begin));
  std::vector<std::uint8_t> listed(graph.n_own);
  for (int vof = 0; vof < graph.n_own; ++vof) listed[vof] = is_listed(vof) ? 1 : 0;
  for_each_face(graph, geometry.box(box.box), [&](const FaceView& f) {
    const std::int64_t place = f.primary ? -1 : extra++;
    if (listed[f.vof] == 0) return;
    if (f.neighbour < graph.n_own) {
      if (f.primary && is_high(f.side)) return;  // listed by its high volume
    } else {
      const VofName to = graph.name(f.neighbour);
      if (to == domain_face) return list_end(box, f, place, slot_begin);
      if (!is_vof(to)) return;
    }
    if (numbers[f.neighbour] < 0) return;
    if (f.primary)
      list_primary(box, f);
    else
      list_extra(box, f, place);
  });
  std::ranges::sort(box.high_extra, {}, &HighExtra::key);
}

void Maker::set_volumes() {
  grid_.volume = Array<double>(grid_.n_all, Purpose::geometry);
  grid_.fragment = Array<std::uint8_t>(grid_.n_all, Purpose::geometry);
  parallel_for(grid_.n_all, [&](std::int64_t v) {
    const VolumeFacts& f = facts_at(static_cast<std::int32_t>(v));
    grid_.volume[v] = f.kappa;
    grid_.fragment[v] = f.inside ? 0 : 1;
  });
  for_boxes([&](const BoxOfMaker& box) {
    const double whole = std::pow(Composite::width(box.level), 3);
    for (std::int32_t v = box.primary.begin; v < box.primary.end; ++v) grid_.volume[v] *= whole;
  });
  fetch_remote(grid_, grid_.volume.span());
}

/// Tells the ranks of the high volumes of extra faces, and finds the second places of those of this rank.
void Maker::exchange_extra() {
  for_boxes([&](BoxOfMaker& box) {
    for (OtherFace& o : box.others) {
      if (o.place.kind != Kind::extra || o.right == no_unknown || !numbering().is_own(o.right)) continue;
      o.second = box_with(index(o.right)).high({o.left, o.right, o.face.direction, o.before});
      o.has_second = true;
    }
  });
  std::map<int, ByteWriter> to_owner;
  std::size_t n = others_.size();
  for (const BoxOfMaker& box : boxes_) n += box.others.size();
  others_.reserve(n);
  for (const BoxOfMaker& box : boxes_) {
    others_.insert(others_.end(), box.others.begin(), box.others.end());
    grid_.read_only.insert(grid_.read_only.end(), box.read_only.begin(), box.read_only.end());
    for (const SentFace& s : box.sent) to_owner[numbering().owner(s.right)].put(s);
  }
  send_to_ranks(composite().comm(), std::move(to_owner), [&](ByteReader& in, int) {
    const auto s = in.get<SentFace>();
    const ScalarGrid::Place& at = box_with(index(s.right)).high({s.left, s.right, s.face.direction, s.place});
    others_.push_back({s.left, s.right, s.face, at, {}, false, false, {}, 0});
  });
}

void Maker::number_others() {
  std::int32_t next = 3 * grid_.n_all;
  for (OtherFace& o : others_) {
    o.face.face = next++;
    o.face.left = index(o.left);
    o.place.face = o.second.face = o.face.face;
    if (o.right == no_unknown) {
      o.face.right = grid_.n_all + static_cast<std::int32_t>(grid_.boundary.size());
      o.boundary.face = o.face.face;
      grid_.boundary.push_back(o.boundary);
    } else {
      o.face.right = index(o.right);
    }
    (o.foreign ? grid_.read_only : grid_.places).push_back(o.place);
    if (o.has_second) grid_.places.push_back(o.second);
  }
  grid_.n_faces = next;
  grid_.n_values = grid_.n_all + static_cast<std::int32_t>(grid_.boundary.size());
}

/// Plain volumes in stretches; all others are special.
void Maker::list_plain() {
  int level = 0;
  for (std::int32_t v = 0; v < grid_.n_own; ++v) {
    if (is_plain_[v] == 0) continue;
    while (v >= grid_.level_begin[level + 1]) ++level;
    const auto& beside = beside_[v];
    const bool goes_on = !grid_.plain.empty() && grid_.plain.back().level == level && [&] {
      const PlainVolumes& last = grid_.plain.back();
      if (last.first + last.count != v) return false;
      for (std::size_t s = 0; s < 6; ++s)
        if (last.beyond[s] + last.count != beside[s]) return false;
      return true;
    }();
    if (goes_on)
      ++grid_.plain.back().count;
    else
      grid_.plain.push_back({v, 1, beside, level});
  }
}

void Maker::list_special() {
  std::vector<const FacesOfBox*> boxes;
  for (const BoxOfMaker& box : boxes_) boxes.push_back(&box.primary);
  std::vector<MadeFace> others;
  for (const OtherFace& o : others_) others.push_back(o.face);
  karst::list_special(boxes, others, is_plain_, grid_);
}

void Maker::add_gradients() {
  for (const GivenSides& given : given_) {
    const std::int64_t unresolved = add_gradient_weights(given, grid_);
    if (grid_.gradients.size() == 1) grid_.counts.unresolved = unresolved;
  }
}

void Maker::count() {
  const Comm& comm = composite().comm();
  ScalarGridCounts& c = grid_.counts;
  c.volumes = comm.sum(std::int64_t{grid_.n_own});
  c.plain = comm.sum(grid_.n_own - static_cast<std::int64_t>(grid_.special.size()));
  c.listed_faces = comm.sum(static_cast<std::int64_t>(grid_.listed.size()));
  c.unresolved = comm.sum(c.unresolved);
  std::int64_t fragments = 0;
  for (std::int32_t v = 0; v < grid_.n_own; ++v) fragments += grid_.fragment[v];
  c.fragments = comm.sum(fragments);
}

ScalarGrid Maker::make() {
  list_facts();
  for (int l = 0; l + 1 < composite().n_levels(); ++l) list_between_levels(l);
  fetch_facts();
  set_volumes();
  beside_ = Array<Beside>(grid_.n_own, Purpose::buffers);
  is_plain_.assign(grid_.n_own, 0);
  for_boxes([&](const BoxOfMaker& box) {
    find_beside(box);
    find_plain(box);
  });
  for_boxes([&](BoxOfMaker& box) { list_faces(box); });
  exchange_extra();
  number_others();
  list_plain();
  list_special();
  add_gradients();
  count();
  return std::move(grid_);
}

}  // namespace

ScalarGrid make_scalar_grid(std::shared_ptr<const Composite> composite, const std::vector<GivenSides>& given) {
  const Timer timer("transport grid");
  return Maker(std::move(composite), given).make();
}

std::shared_ptr<ScalarGrid> scalar_grid_in_use(const Composite& composite) {
  return composite.in_use().find<ScalarGrid>();
}

std::shared_ptr<ScalarGrid> scalar_grid_of(const std::shared_ptr<const Composite>& composite,
                                           const std::vector<GivenSides>& given) {
  const std::shared_ptr<ScalarGrid> grid = composite->in_use().get<ScalarGrid>(
      [&] { return std::make_shared<ScalarGrid>(make_scalar_grid(composite, given)); });
  for (const GivenSides& sides : given) find_gradient_weights(*grid, sides);
  return grid;
}

}  // namespace karst
