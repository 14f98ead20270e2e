// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/comm/timer.hpp"
#include "eb/link/faces.hpp"
#include "eb/link/least_squares.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"
#include "transport/march/scalar_grid.hpp"

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

/// A face in the making: a ScalarFace and what stands in lists beside it.
struct MadeFace {
  std::int32_t face, left, right;
  std::uint8_t direction;
  bool fragment;
  double conductance;
  FaceOffsets at;
};

/// A face as a volume sees it that is not plain. They are sorted by their places, so that what is summed over them has
/// the same last bits whoever owns the volumes beside.
struct FaceOfVolume {
  VolumeFace face;
  Vec3 at;       ///< centroid, from that of the volume
  Vec3 towards;  ///< centroid of the other volume, or of the face on an end, from there; 0: no part in the gradient
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

class Maker {
 public:
  Maker(std::shared_ptr<const Composite> composite, const std::vector<GivenSides>& given) : given_(given) {
    grid_.composite = std::move(composite);
    const Composite& c = *grid_.composite;
    grid_.n_own = static_cast<std::int32_t>(c.numbering().n_own());
    for (int l = 0; l < c.n_levels(); ++l) numbers_.push_back(c.numbering().global_numbers(c.comm(), c.graph(l), l));
  }
  ScalarGrid make();

 private:
  const Composite& composite() const { return *grid_.composite; }
  const CompositeNumbering& numbering() const { return grid_.composite->numbering(); }
  std::int32_t index(GlobalNumber g) const {
    return numbering().is_own(g) ? static_cast<std::int32_t>(g - numbering().first())
                                 : grid_.n_own + grid_.remote.place(g);
  }
  const VolumeFacts& facts(GlobalNumber g) const { return facts_[index(g)]; }
  void list_facts();
  std::map<VofName, VolumeFacts> facts_of(int level, std::vector<VofName> names) const;
  void list_between_levels(int level);
  void fetch_facts();
  void list_box(int level, int box);
  void list_primary(int level, const FaceView& f, int box);
  void list_extra(int level, const BoxGraph& graph, const FaceView& f, std::int64_t place);
  void list_end(int level, const BoxGraph& graph, const FaceView& f, std::int64_t extra, std::int64_t slot_begin);
  Index step(const Index& from, const Index& to, int level, int side) const;
  void exchange_extra();
  void number_others();
  void find_plain();
  void list_special();
  std::vector<Vec3> fit(const std::vector<FaceOfVolume>& faces, const GivenSides& given);
  void count();

  ScalarGrid grid_;
  std::vector<GivenSides> given_;
  std::vector<NumberField> numbers_;
  std::vector<VolumeFacts> facts_;  // own, then remote
  std::vector<GlobalNumber> wanted_;
  std::vector<OtherFace> others_;
  std::vector<SentFace> sent_;  // to right volumes of other ranks
  /// Own extra faces whose high volume is the own one: (low, high, direction, how many before) -> place.
  std::map<std::tuple<GlobalNumber, GlobalNumber, int, int>, ScalarGrid::Place> high_extra_;
  std::map<std::tuple<GlobalNumber, GlobalNumber, int, bool>, int> seen_;
  std::vector<MadeFace> primary_;
  std::vector<std::array<std::int32_t, 6>> beside_;  // per own volume: across the six sides, -1: no such neighbour
  std::vector<std::uint8_t> is_plain_;
};

/// aperture h² / distance; 0 at isolated fragments that are too small for the aperture.
double conductance_between(const VolumeFacts& a, const VolumeFacts& b, double aperture, double h, double distance) {
  const auto too_small = [&](const VolumeFacts& f) { return !f.inside && aperture > crumb * f.kappa; };
  return too_small(a) || too_small(b) ? 0.0 : aperture * h * h / distance;
}

constexpr double least_gradient = 0.2;  ///< eigenvalue of a resolved direction: 2 in whole cells

void Maker::list_facts() {
  const Composite& c = composite();
  facts_.resize(grid_.n_own);
  grid_.slots.resize(facts_.size());
  grid_.centroid = Array<Vec3>(facts_.size(), Purpose::geometry);
  std::int32_t begin = 0;
  for (int l = 0; l < c.n_levels(); ++l) {
    const LevelGeometry& level = c.level(l);
    grid_.level_begin.push_back(begin);
    if (level.graph.n_local() > 0) begin = numbering().box_end(l, level.graph.n_local() - 1);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      const BoxMoments moments = level.box(b);
      std::vector<std::int32_t> row(graph.n_own, -1);
      for (int r = 0; r < graph.n_irregular; ++r) row[graph.row_vof[r]] = r;
      for_each_vof(graph, [&](int vof, int cell) {
        const std::int32_t n = numbering().number(l, b, vof);
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
        grid_.slots[n] = level.graph.slot_begin(b) + vof;
        grid_.centroid[n] = Composite::width(l) * (Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5} + f.centroid);
      });
    }
  }
  grid_.level_begin.push_back(grid_.n_own);
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
    o.place = {Kind::coarse_fine, static_cast<std::uint8_t>(level), 0, 1, -1, static_cast<std::int64_t>(i)};
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
    o.place = {Kind::entering, static_cast<std::uint8_t>(level), 0, 1, -1, std::ssize(faces) + at};
    others_.push_back(o);
    wanted_.push_back(s.left);
  });
}

void Maker::fetch_facts() {
  const Composite& c = composite();
  for (int l = 0; l < c.n_levels(); ++l)
    for (int b = 0; b < c.graph(l).n_local(); ++b) {
      const auto numbers = numbers_[l].box(b);
      for_each_face(c.graph(l).box(b), [&](int vof, int, int slot) {
        const GlobalNumber g = numbers[slot];
        if (numbers[vof] >= 0 && is_vof(c.graph(l).box(b).name(slot)) && g >= 0 && !numbering().is_own(g))
          wanted_.push_back(g);
      });
    }
  RemoteValues<VolumeFacts> values(c.comm(), numbering(), std::move(wanted_));
  values.begin(facts_);
  values.finish();
  facts_.insert(facts_.end(), values.values().begin(), values.values().end());
  grid_.remote = std::move(values);
  grid_.n_all = static_cast<std::int32_t>(facts_.size());
}

Index Maker::step(const Index& from, const Index& to, int level, int side) const {
  return step_across(composite().graph(level).layout().domain(), from, to, side);
}

void Maker::list_primary(int level, const FaceView& f, int box) {
  const auto numbers = numbers_[level].box(box);
  const GlobalNumber own = numbers[f.vof];
  const GlobalNumber other = numbers[f.neighbour];
  const std::int32_t i = index(own), j = index(other);
  beside_[i][f.side] = j;
  if (is_high(f.side) && numbering().is_own(other)) return;  // listed by its high volume
  if (own == other) return;                                  // one cell in a periodic direction
  const VolumeFacts &mine = facts(own), &theirs = facts(other);
  const int d = direction_of(f.side);
  const double h = Composite::width(level);
  const Vec3 from_own = h * (f.centroid - mine.centroid);
  const Vec3 from_other = h * (f.centroid - to_vec(step(mine.cell, theirs.cell, level, f.side)) - theirs.centroid);
  MadeFace face{};
  const bool high = is_high(f.side);
  face.face = d * grid_.n_all + (high ? j : i);
  face.left = high ? i : j;
  face.right = high ? j : i;
  face.direction = static_cast<std::uint8_t>(d);
  face.fragment = !mine.inside || !theirs.inside;
  face.at.from_left = high ? from_own : from_other;
  face.at.from_right = high ? from_other : from_own;
  face.conductance =
      conductance_between(mine, theirs, f.aperture, h, std::max(0.5 * h, face.at.from_left[d] - face.at.from_right[d]));
  primary_.push_back(face);
  if (high)  // its place is the slot of a volume of another rank
    grid_.read_only.push_back({Kind::primary, static_cast<std::uint8_t>(level), face.direction, 1, face.face,
                               composite().graph(level).slot_begin(box) + f.neighbour});
}

void Maker::list_extra(int level, const BoxGraph& graph, const FaceView& f, std::int64_t place) {
  const int b = composite().graph(level).local(graph.box);
  const auto numbers = numbers_[level].box(b);
  const GlobalNumber own = numbers[f.vof];
  const GlobalNumber other = numbers[f.neighbour];
  const bool high = is_high(f.side);
  const int d = direction_of(f.side);
  const GlobalNumber low = high ? own : other, above = high ? other : own;
  const int before = seen_[{low, above, d, high}]++;
  const auto sign = static_cast<std::int8_t>(high ? 1 : -1);
  const ScalarGrid::Place at{Kind::extra, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(d), sign, -1,
                             place};
  if (!high) {
    high_extra_[{low, above, d, before}] = at;
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
  if (!numbering().is_own(other)) sent_.push_back({own, other, o.face, level, before});
  others_.push_back(o);
}

/// A face on an end of the domain.
/// @param extra  its place among the extra faces; -1: a primary one
void Maker::list_end(int level, const BoxGraph& graph, const FaceView& f, std::int64_t extra, std::int64_t slot_begin) {
  const int b = composite().graph(level).local(graph.box), d = direction_of(f.side);
  const GlobalNumber own = numbers_[level].box(b)[f.vof];
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
  others_.push_back(o);
}

void Maker::list_box(int level, int b) {
  const LevelGeometry& geometry = composite().level(level);
  const BoxGraph graph = geometry.graph.box(b);
  const auto numbers = numbers_[level].box(b);
  const std::int64_t slot_begin = geometry.graph.slot_begin(b);
  std::int64_t extra = geometry.extra_begin[b];
  for_each_face(graph, geometry.box(b), [&](const FaceView& f) {
    const std::int64_t place = f.primary ? -1 : extra++;
    if (numbers[f.vof] < 0) return;
    const VofName to = graph.name(f.neighbour);
    if (to == domain_face) return list_end(level, graph, f, place, slot_begin);
    if (!is_vof(to) || numbers[f.neighbour] < 0) return;
    if (f.primary)
      list_primary(level, f, b);
    else
      list_extra(level, graph, f, place);
  });
}

/// Tells the ranks of the high volumes of extra faces, and finds the second places of those of this rank.
void Maker::exchange_extra() {
  for (OtherFace& o : others_) {
    if (o.place.kind != Kind::extra || o.right == no_unknown || !numbering().is_own(o.right)) continue;
    o.second = high_extra_.at({o.left, o.right, o.face.direction, o.before});
    o.has_second = true;
  }
  std::map<int, ByteWriter> to_owner;
  for (const SentFace& s : sent_) to_owner[numbering().owner(s.right)].put(s);
  send_to_ranks(composite().comm(), std::move(to_owner), [&](ByteReader& in, int) {
    const auto s = in.get<SentFace>();
    OtherFace o{s.left, s.right, s.face, high_extra_.at({s.left, s.right, s.face.direction, s.place}), {}, false,
                false,  {},      0};
    others_.push_back(o);
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
void Maker::find_plain() {
  const std::size_t n = grid_.n_own;
  is_plain_.assign(n, 0);
  int level = 0;
  for (std::size_t v = 0; v < n; ++v) {
    while (static_cast<std::int32_t>(v) >= grid_.level_begin[level + 1]) ++level;
    const auto& beside = beside_[v];
    const bool plain =
        facts_[v].regular && std::ranges::all_of(beside, [&](std::int32_t j) { return j >= 0 && facts_[j].regular; });
    if (!plain) continue;
    is_plain_[v] = 1;
    const bool goes_on = !grid_.plain.empty() && grid_.plain.back().level == level && [&] {
      const PlainVolumes& last = grid_.plain.back();
      if (last.first + last.count != static_cast<std::int32_t>(v)) return false;
      for (std::size_t s = 0; s < 6; ++s)
        if (last.beyond[s] + last.count != beside[s]) return false;
      return true;
    }();
    if (goes_on)
      ++grid_.plain.back().count;
    else
      grid_.plain.push_back({static_cast<std::int32_t>(v), 1, beside, level});
  }
}

/// Weights of the gradient, parallel to the faces, of what is given on some sides. Isolated fragments take part only
/// where a direction hangs on them.
std::vector<Vec3> Maker::fit(const std::vector<FaceOfVolume>& faces, const GivenSides& given) {
  std::vector<Vec3> points;
  std::vector<std::size_t> of;
  enum class Fragments { with, without };
  const auto choose = [&](Fragments fragments) {
    points.clear();
    of.clear();
    for (std::size_t k = 0; k < faces.size(); ++k) {
      if (faces[k].towards == Vec3{}) continue;
      const std::int32_t o = faces[k].face.other();
      if (o >= grid_.n_all && !given[grid_.boundary[o - grid_.n_all].side]) continue;
      if (fragments == Fragments::without && o < grid_.n_all && grid_.fragment[o] != 0) continue;
      points.push_back(faces[k].towards);
      of.push_back(k);
    }
    return points.empty() ? GradientFit{} : fit_gradient(points, least_gradient);
  };
  GradientFit best = choose(Fragments::with);
  const int all = best.resolved;
  if (GradientFit without = choose(Fragments::without); without.resolved == all)
    best = std::move(without);
  else
    best = choose(Fragments::with);
  std::vector<Vec3> weights(faces.size());
  for (std::size_t k = 0; k < of.size(); ++k) weights[of[k]] = best.weight[k];
  const Domain& domain = composite().graph(0).layout().domain();
  int wanted = 0;
  for (int d = 0; d < 3; ++d) wanted += domain.periodic[d] && domain.cells[d] == 1 ? 0 : 1;
  if (given == given_.front()) grid_.counts.unresolved += best.resolved < wanted ? 1 : 0;
  return weights;
}

void Maker::list_special() {
  std::vector<ScalarFace> listed;
  std::vector<FaceOffsets> offsets;
  std::vector<double> conductance;
  const auto list = [&](const MadeFace& f) {
    listed.push_back({f.face, f.left, f.right, f.fragment});
    offsets.push_back(f.at);
    conductance.push_back(f.conductance);
  };
  std::vector<std::vector<FaceOfVolume>> faces(grid_.n_own);
  enum class VolumeIs { left, right };
  const auto add = [&](std::int32_t v, const MadeFace& f, VolumeIs on) {
    const bool left = on == VolumeIs::left;
    if (v >= grid_.n_own || is_plain_[v] != 0) return;
    const std::int32_t other = left ? f.right : f.left;
    const bool end = other >= grid_.n_all;
    const Vec3 r = end ? f.at.from_left : (left ? f.at.from_left - f.at.from_right : f.at.from_right - f.at.from_left);
    faces[v].push_back({{f.face, other, left}, left ? f.at.from_left : f.at.from_right, r});
  };
  for (const MadeFace& f : primary_) {
    const bool low_of_plain = f.right < grid_.n_own && is_plain_[f.right] != 0;
    if (!low_of_plain) list(f);
    add(f.left, f, VolumeIs::left);
    add(f.right, f, VolumeIs::right);
  }
  for (const OtherFace& o : others_) {
    list(o.face);
    add(o.face.left, o.face, VolumeIs::left);
    if (o.face.right < grid_.n_all) add(o.face.right, o.face, VolumeIs::right);
  }
  std::vector<std::int32_t> special;
  std::vector<std::int64_t> begin{0};
  std::vector<VolumeFace> all;
  std::vector<std::vector<Vec3>> weights(given_.size());
  for (std::int32_t v = 0; v < grid_.n_own; ++v) {
    if (is_plain_[v] != 0) continue;
    std::ranges::sort(faces[v], {}, &FaceOfVolume::at);
    for (std::size_t g = 0; g < given_.size(); ++g)
      std::ranges::copy(fit(faces[v], given_[g]), std::back_inserter(weights[g]));
    special.push_back(v);
    for (const FaceOfVolume& f : faces[v]) all.push_back(f.face);
    begin.push_back(std::ssize(all));
  }
  const auto keep = [](const auto& from, auto& array) {
    using T = std::remove_cvref_t<decltype(from[0])>;
    array = Array<T>(from.size(), Purpose::connectivity);
    std::ranges::copy(from, array.begin());
  };
  keep(listed, grid_.listed);
  keep(offsets, grid_.offsets);
  keep(conductance, grid_.conductance);
  keep(special, grid_.special);
  keep(begin, grid_.special_begin);
  keep(all, grid_.volume_faces);
  for (std::size_t g = 0; g < given_.size(); ++g) {
    grid_.gradients.push_back({given_[g], {}});
    keep(weights[g], grid_.gradients.back().weight);
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
  grid_.volume = Array<double>(facts_.size(), Purpose::geometry);
  grid_.fragment = Array<std::uint8_t>(facts_.size(), Purpose::geometry);
  beside_.assign(grid_.n_own, {-1, -1, -1, -1, -1, -1});
  for (int l = 0; l < composite().n_levels(); ++l)
    for (int b = 0; b < composite().graph(l).n_local(); ++b) list_box(l, b);
  for (std::size_t v = 0; v < facts_.size(); ++v) {
    grid_.volume[v] = facts_[v].kappa;
    grid_.fragment[v] = facts_[v].inside ? 0 : 1;
  }
  for (int l = 0; l < composite().n_levels(); ++l)
    for (auto v = grid_.level_begin[l]; v < grid_.level_begin[l + 1]; ++v)
      grid_.volume[v] *= std::pow(Composite::width(l), 3);
  fetch_remote(grid_, grid_.volume.span());
  exchange_extra();
  number_others();
  find_plain();
  list_special();
  count();
  return std::move(grid_);
}

}  // namespace

ScalarGrid make_scalar_grid(std::shared_ptr<const Composite> composite, const std::vector<GivenSides>& given) {
  const Timer timer("transport grid");
  return Maker(std::move(composite), given).make();
}

}  // namespace karst
