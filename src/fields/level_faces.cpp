// SPDX-License-Identifier: BSD-3-Clause
#include "fields/level_faces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/comm/parallel.hpp"
#include "base/core/items_of.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

constexpr double same_place = 1e-6;  ///< of a cell's width

Index wrapped(Index c, const Domain& domain) {
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d]) c[d] = (c[d] % domain.cells[d] + domain.cells[d]) % domain.cells[d];
  return c;
}

/// Which coarse VoFs lie behind which places; each place is known to the owner of its box.
class CoarseSide {
 public:
  CoarseSide(const Comm& comm, const VofLookup& vofs) : vofs_(vofs) {
    std::map<int, ByteWriter> to_owner;
    for (const VofName v : at_level_boundary(vofs_)) {
      if (vofs_.number(v) == no_unknown) continue;
      for (const auto& [face, side] : vofs_.shared_faces(v)) {
        if (vofs_.number(is_high(side) ? face.high : face.low) != no_unknown) continue;
        const Entry entry = entry_of(face, side, v);
        for (const int rank : readers(entry.place)) {
          if (rank == comm.rank())
            entries_.push_back(entry);
          else
            to_owner[rank].put(entry);
        }
      }
    }
    send_to_ranks(comm, std::move(to_owner), [&](ByteReader& in, int) { entries_.push_back(in.get<Entry>()); });
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.place, b.aperture, a.vof) < std::tie(b.place, a.aperture, b.vof);
    });
  }

  /// VoFs of other ranks behind own places.
  std::vector<VofName> foreign() const {
    std::vector<VofName> names;
    for (const Entry& e : entries_)
      if (vofs_.graph().local(box_of(e.vof)) < 0) names.push_back(e.vof);
    return names;
  }

  /// Tells which area of fine faces lies at which places; to be called before behind().
  /// @param area  of own fine faces, in units of the coarse face. Collective.
  void set_fine_areas(const Comm& comm, const std::map<LevelPlace, double>& area) {
    std::map<int, ByteWriter> to_reader;
    for (const auto& [place, a] : area)
      for (const int rank : readers(place)) {
        to_reader[rank].put(place);
        to_reader[rank].put(a);
      }
    for (const Entry& e : entries_) missing_[e.place] += e.aperture;
    send_to_ranks(comm, std::move(to_reader), [&](ByteReader& in, int) {
      const auto place = in.get<LevelPlace>();
      missing_[place] -= in.get<double>();
    });
  }

  BehindFace behind(const LevelPlace& place) const {
    VofName found = vof_at(place);
    if (found == no_face) found = vof_beside(place);
    if (found == no_face) return {};
    const Index cell = vofs_.cell(found);
    Vec3 offset;
    for (int d = 0; d < 3; ++d) {
      const int n = vofs_.layout().domain().cells[d];
      int step = cell[d] - place.cell[d];
      if (vofs_.layout().domain().periodic[d]) {
        if (2 * step > n) step -= n;
        if (2 * step < -n) step += n;
      }
      offset[d] = step;
    }
    const VofName across = vofs_.aligned(found, place.side);
    return {true,   found,      across != no_face && vofs_.number(across) == no_unknown ? across : no_face,
            offset, no_unknown, {}};
  }

 private:
  struct Entry {
    LevelPlace place;
    double aperture;
    VofName vof;
    Vec3 in_cell;  ///< centroid of the face from the middle of the cell's side
  };
  /// Ranks that may ask for a place: the owners of its cell and of those beside it (vof_beside).
  std::vector<int> readers(const LevelPlace& place) const {
    std::vector<int> ranks;
    const Layout& layout = vofs_.layout();
    for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
      if (step[direction_of(place.side)] != 0) return;
      const std::int64_t box = layout.find_cell(place.cell + step);
      if (box >= 0) ranks.push_back(layout.owner(box));
    });
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }
  VofName vof_at(const LevelPlace& place) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), place,
                                     [](const Entry& e, const LevelPlace& p) { return e.place < p; });
    return at != entries_.end() && at->place == place ? at->vof : no_face;
  }
  /// A place without an entry: its face was added to one of a cell beside, between the same two VoFs. That one has more
  /// area than the fine faces in front of it; of several, or when none has, the one whose centroid is nearest.
  VofName vof_beside(const LevelPlace& place) const {
    VofName found = no_face;
    double nearest = 1e30;
    bool lacks = false;
    constexpr double much = 0.5;
    const auto here = missing_.find(place);
    const double area = here == missing_.end() ? 0.0 : -here->second;
    for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
      if (step[direction_of(place.side)] != 0) return;
      const LevelPlace beside{wrapped(place.cell + step, vofs_.layout().domain()), place.side};
      const auto range = items_of(entries_, beside, &Entry::place);
      const auto missing = missing_.find(beside);
      const bool has_more = missing != missing_.end() && area > 0.0 && missing->second > much * area;
      for (const Entry& e : range) {
        const Vec3 away = e.in_cell + to_vec(step);
        if (lacks && !has_more) continue;
        if (lacks == has_more && dot(away, away) >= nearest) continue;
        lacks = has_more;
        nearest = dot(away, away);
        found = e.vof;
      }
    });
    return found;
  }
  /// The cell on the near side of a face of an uncovered VoF towards a covered one.
  Entry entry_of(const SharedFace& face, int side, VofName v) const {
    const Vec3 at = to_vec(vofs_.cell(face.low)) + Vec3::all(0.5) + face.centroid;
    Entry entry{{{}, side}, face.aperture, v, {}};
    for (int d = 0; d < 3; ++d) {
      int& c = entry.place.cell[d];
      c = d == face.direction ? static_cast<int>(std::lround(at[d])) - (is_high(side) ? 1 : 0)
                              : static_cast<int>(std::floor(at[d]));
      if (d != face.direction) entry.in_cell[d] = at[d] - (c + 0.5);
    }
    entry.place.cell = wrapped(entry.place.cell, vofs_.layout().domain());
    return entry;
  }

  const VofLookup& vofs_;
  std::vector<Entry> entries_;
  std::map<LevelPlace, double> missing_;  // area of the coarse faces at a place without that of the fine ones
};

/// Steps from the cell of a VoF to the one across a face: the piece at the face may have joined from a cell beside.
Index steps_across(const ListedFace& f) {
  Index steps = side_offset(f.side);
  if (f.primary) return steps;
  for (int e = 0; e < 3; ++e) {
    const double out = e == direction_of(f.side) ? (is_high(f.side) ? 0.5 : -0.5) : 0.0;
    steps[e] = static_cast<int>(std::lround(f.centroid[e] + out));
  }
  return steps;
}

std::vector<LevelFace> fine_faces(const Domain& coarse, const VofLookup& fine) {
  std::vector<LevelFace> faces;
  for (const VofName v : at_level_boundary(fine)) {
    if (fine.number(v) == no_unknown) continue;
    for (const ListedFace& f : fine.faces(v)) {
      if (f.neighbour != coarse_face) continue;
      const Index across = fine.cell(v) + steps_across(f);
      LevelFace face{v, f, {{}, opposite(f.side)}, {}, {}};
      for (int e = 0; e < 3; ++e) {
        face.place.cell[e] = static_cast<int>(std::floor(0.5 * across[e]));
        face.ghost[e] = 0.5 * (across[e] + 0.5) - (face.place.cell[e] + 0.5);
      }
      face.place.cell = wrapped(face.place.cell, coarse);
      faces.push_back(face);
    }
  }
  return faces;
}

/// Asks the owners of the places what lies behind the faces.
void ask_coarse(const Comm& comm, const Layout& layout, const CoarseSide& coarse, std::vector<LevelFace>& faces) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (const std::int64_t box = layout.find_cell(faces[i].place.cell); box >= 0)
      of_rank[layout.owner(box)].push_back(i);
  const auto question = [&](std::size_t i, ByteWriter& w) { w.put(faces[i].place); };
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const BehindFace b = coarse.behind(in.get<LevelPlace>());
    w.put(b.found);
    w.put(b.vof);
    w.put(b.covered);
    w.put(b.center);
  };
  ask_ranks_per_item(comm, of_rank, question, answer, [&](std::size_t i, ByteReader& in) {
    BehindFace& behind = faces[i].behind;
    behind.found = in.get<bool>();
    behind.vof = in.get<VofName>();
    behind.covered = in.get<VofName>();
    behind.center = in.get<Vec3>();
  });
}

}  // namespace

std::vector<LevelPoint> points_around(const VofLookup& vofs, VofName start, int rings, double width,
                                      const Vec3& at_start, const WallOnLine& walls) {
  std::vector<VofName> names;
  std::vector<LevelPoint> points;
  const auto add = [&](VofName n, const Vec3& at) {
    if (vofs.number(n) == no_unknown) return;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == n && norm(points[i].at - at) < same_place * width) return;
    names.push_back(n);
    points.push_back({vofs.number(n), at});
  };
  if (vofs.inside(start)) {
    add(start, at_start);
  } else {
    for (const ListedFace& f : vofs.faces(start))
      if (is_vof(f.neighbour) && vofs.inside(f.neighbour))
        add(f.neighbour, at_start + width * to_vec(vofs.step(start, f.neighbour, f.side)));
  }
  std::size_t begin = 0;
  for (int ring = 0; ring < rings; ++ring) {
    const std::size_t end = names.size();
    for (std::size_t i = begin; i < end; ++i)
      for (int side = 0; side < 6; ++side)
        if (const VofName n = vofs.aligned(names[i], side); n != no_face)
          add(n, points[i].at + width * to_vec(side_offset(side)));
    begin = end;
  }
  if (!walls) return points;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (int side = 0; side < 6; ++side)
      if (const double theta = walls(names[i], side); theta <= 1.0)
        points.push_back({no_unknown, points[i].at + theta * width * to_vec(side_offset(side))});
  return points;
}

Index LevelFace::steps() const { return steps_across(face); }

Vec3 LevelFace::own_center() const { return ghost - 0.5 * to_vec(steps()); }

std::vector<VofName> at_level_boundary(const VofLookup& vofs) {
  std::vector<VofName> names;
  for (int b = 0; b < vofs.graph().n_local(); ++b) {
    const BoxGraph graph = vofs.graph().box(b);
    const auto is_covered = [&](int slot) { return vofs.is_covered(b, slot); };
    if (graph.halo.n_coarse() == 0 &&
        std::ranges::none_of(std::views::iota(0, graph.n_own + graph.halo.n_vofs()), is_covered))
      continue;
    const auto touches = [&](int slot) {
      const VofName n = graph.name(slot);
      return n == coarse_face || (is_vof(n) && vofs.is_covered(b, slot));
    };
    int last = -1;
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      if (std::ranges::any_of(slots, touches)) names.push_back(vof_name(graph.box, vof));
    });
    for (const ExtraFace& e : graph.extra)
      if (e.vof != last && touches(e.neighbour)) {
        names.push_back(vof_name(graph.box, e.vof));
        last = e.vof;
      }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<LevelFace> find_level_faces(const Comm& comm, VofLookup& coarse, const VofLookup& fine) {
  CoarseSide coarse_side(comm, coarse);
  coarse.fetch(comm, coarse_side.foreign(), 2);
  std::vector<LevelFace> faces = fine_faces(coarse.layout().domain(), fine);
  std::map<LevelPlace, double> area;
  for (const LevelFace& f : faces) area[f.place] += 0.25 * f.face.aperture;
  coarse_side.set_fine_areas(comm, area);
  ask_coarse(comm, coarse.layout(), coarse_side, faces);
  return faces;
}

void look_behind(const Comm& comm, const CoarseSight& coarse, std::vector<LevelFace>& faces) {
  struct Question {
    VofName vof;
    Vec3 center;
  };
  std::map<int, std::vector<std::size_t>> of_rank;
  const auto is_own = [&](const LevelFace& f) { return coarse.vofs.graph().local(box_of(f.behind.vof)) >= 0; };
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (faces[i].behind.found && !is_own(faces[i]))
      of_rank[coarse.vofs.layout().owner(box_of(faces[i].behind.vof))].push_back(i);
  parallel_for(std::ssize(faces), [&](std::int64_t i) {
    BehindFace& b = faces[i].behind;
    if (!b.found || !is_own(faces[i])) return;
    b.row = coarse.row(b.vof);
    b.points = points_around(coarse.vofs, b.vof, 2, 1.0, b.center, coarse.walls);
  });
  const auto question = [&](std::size_t i, ByteWriter& w) {
    w.put(Question{faces[i].behind.vof, faces[i].behind.center});
  };
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto q = in.get<Question>();
    w.put(coarse.row(q.vof));
    w.put_vector(points_around(coarse.vofs, q.vof, 2, 1.0, q.center, coarse.walls));
  };
  ask_ranks_per_item(comm, of_rank, question, answer, [&](std::size_t i, ByteReader& in) {
    faces[i].behind.row = in.get<GlobalNumber>();
    faces[i].behind.points = in.get_vector<LevelPoint>();
  });
}

}  // namespace karst
