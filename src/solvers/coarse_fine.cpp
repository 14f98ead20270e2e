// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/coarse_fine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "eb/least_squares.hpp"
#include "grid/bytes.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

constexpr double largest_weights = 5.0;  ///< fluxes: of a polynomial, Σ |weights|

Vec3 to_vec(const Index& i) { return {double(i[0]), double(i[1]), double(i[2])}; }

/// A coarse cell and the side of it that touches the fine level.
struct Place {
  Index cell;
  int side;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Index wrapped(Index c, const Domain& domain) {
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[static_cast<std::size_t>(d)])
      c[d] = (c[d] % domain.cells[d] + domain.cells[d]) % domain.cells[d];
  return c;
}

/// An unknown and where it stands, in coarse cell widths from the centre of the coarse cell that was asked for.
struct Point {
  GlobalNumber unknown;
  Vec3 at;
};

/// What a fine face needs to know about the coarse side.
struct Behind {
  bool found = false;
  VofName vof = no_face;
  Vec3 center;                    ///< of its cell, as the points have it
  GlobalNumber row = no_unknown;  ///< whose balance the flux enters; no_unknown: of a VoF without one
  std::vector<Point> points;
};

/// Unknowns at cell centres around a VoF, by steps along grid lines; for a VoF beside its centre, around its
/// neighbours.
std::vector<Point> points_around(const VofLookup& vofs, VofName start, int rings, double width, const Vec3& at_start) {
  std::vector<VofName> names;
  std::vector<Point> points;
  const auto add = [&](VofName n, const Vec3& at) {
    if (vofs.number(n) == no_unknown || std::find(names.begin(), names.end(), n) != names.end()) return;
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
  return points;
}

/// Which coarse VoFs lie behind which places; each place is known to the owner of its box.
class CoarseSide {
 public:
  CoarseSide(const Comm& comm, const LevelRows& level) : level_(level) {
    std::map<int, ByteWriter> to_owner;
    for (const VofName v : at_level_boundary(level.vofs)) {
      if (level.vofs.number(v) == no_unknown) continue;
      for (const auto& [face, side] : level.vofs.shared_faces(v)) {
        if (level.vofs.number(is_high(side) ? face.high : face.low) != no_unknown) continue;
        const Entry entry = entry_of(face, side, v);
        for (const int rank : readers(entry.place)) {
          if (rank == comm.rank())
            entries_.push_back(entry);
          else
            to_owner[rank].put(entry);
        }
      }
    }
    std::vector<Message> out;
    for (auto& [rank, w] : to_owner) out.push_back({rank, w.take()});
    for (const Message& m : comm.sparse_exchange(out))
      for (ByteReader in(m.bytes); !in.at_end();) entries_.push_back(in.get<Entry>());
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.place, b.aperture, a.vof) < std::tie(b.place, a.aperture, b.vof);
    });
  }

  /// VoFs of other ranks behind own places.
  std::vector<VofName> foreign() const {
    std::vector<VofName> names;
    for (const Entry& e : entries_)
      if (!level_.vofs.knows(e.vof)) names.push_back(e.vof);
    return names;
  }

  /// Tells which area of fine faces lies at which places; to be called before behind().
  /// @param area  of own fine faces, in units of the coarse face. Collective.
  void set_fine_areas(const Comm& comm, const std::map<Place, double>& area) {
    std::map<int, ByteWriter> to_reader;
    for (const auto& [place, a] : area)
      for (const int rank : readers(place)) {
        to_reader[rank].put(place);
        to_reader[rank].put(a);
      }
    std::vector<Message> out;
    for (auto& [rank, w] : to_reader) out.push_back({rank, w.take()});
    for (const Entry& e : entries_) missing_[e.place] += e.aperture;
    for (const Message& m : comm.sparse_exchange(out))
      for (ByteReader in(m.bytes); !in.at_end();) {
        const auto place = in.get<Place>();
        missing_[place] -= in.get<double>();
      }
  }

  Behind behind(const Place& place) const {
    VofName found = vof_at(place);
    if (found == no_face) found = vof_beside(place);
    if (found == no_face) return {};
    const Index cell = level_.vofs.cell(found);
    Vec3 offset;
    for (int d = 0; d < 3; ++d) {
      const int n = level_.vofs.layout().domain().cells[d];
      int step = cell[d] - place.cell[d];
      if (level_.vofs.layout().domain().periodic[static_cast<std::size_t>(d)]) {
        if (2 * step > n) step -= n;
        if (2 * step < -n) step += n;
      }
      offset[d] = step;
    }
    return {true, found, offset, level_.maker.balance_row(found), points_around(level_.vofs, found, 2, 1.0, offset)};
  }

 private:
  struct Entry {
    Place place;
    double aperture;
    VofName vof;
    Vec3 in_cell;  ///< centroid of the face from the middle of the cell's side
  };
  /// Ranks that may ask for a place: the owners of its cell and of those beside it (vof_beside).
  std::vector<int> readers(const Place& place) const {
    std::vector<int> ranks;
    const Layout& layout = level_.vofs.layout();
    for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
      if (step[direction_of(place.side)] != 0) return;
      const std::int64_t box = layout.find_cell(place.cell + step);
      if (box >= 0) ranks.push_back(layout.owner(box));
    });
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }
  VofName vof_at(const Place& place) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), place,
                                     [](const Entry& e, const Place& p) { return e.place < p; });
    return at != entries_.end() && at->place == place ? at->vof : no_face;
  }
  /// A place without an entry: its face was added to one of a cell beside, between the same two VoFs. That one has more
  /// area than the fine faces in front of it; of several, or when none has, the one whose centroid is nearest.
  VofName vof_beside(const Place& place) const {
    VofName found = no_face;
    double nearest = 1e30;
    bool lacks = false;
    constexpr double much = 0.5;
    const auto here = missing_.find(place);
    const double area = here == missing_.end() ? 0.0 : -here->second;
    for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
      if (step[direction_of(place.side)] != 0) return;
      const Place beside{wrapped(place.cell + step, level_.vofs.layout().domain()), place.side};
      const auto range = std::ranges::equal_range(entries_, beside, {}, &Entry::place);
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
    const Vec3 at = to_vec(level_.vofs.cell(face.low)) + Vec3::all(0.5) + face.centroid;
    Entry entry{{{}, side}, face.aperture, v, {}};
    for (int d = 0; d < 3; ++d) {
      int& c = entry.place.cell[d];
      c = d == face.direction ? static_cast<int>(std::lround(at[d])) - (is_high(side) ? 1 : 0)
                              : static_cast<int>(std::floor(at[d]));
      if (d != face.direction) entry.in_cell[d] = at[d] - (c + 0.5);
    }
    entry.place.cell = wrapped(entry.place.cell, level_.vofs.layout().domain());
    return entry;
  }

  LevelRows level_;
  std::vector<Entry> entries_;
  std::map<Place, double> missing_;  // area of the coarse faces at a place without that of the fine ones
};

/// A fine face and its way to the coarse level.
struct FineFace {
  VofName vof;
  ListedFace face;
  Place place;
  Vec3 ghost;  ///< fine cell centre across the face, from the centre of the coarse cell, in coarse cell widths
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

std::vector<FineFace> fine_faces(const LevelRows& fine, const Domain& coarse_domain) {
  std::vector<FineFace> faces;
  for (const VofName v : at_level_boundary(fine.vofs)) {
    if (fine.vofs.number(v) == no_unknown) continue;
    for (const ListedFace& f : fine.vofs.faces(v)) {
      if (f.neighbour != coarse_face || !fine.maker.crosses_levels(v, f)) continue;
      const Index across = fine.vofs.cell(v) + steps_across(f);
      FineFace face{v, f, {{}, opposite(f.side)}, {}};
      for (int e = 0; e < 3; ++e) {
        face.place.cell[e] = static_cast<int>(std::floor(0.5 * across[e]));
        face.ghost[e] = 0.5 * (across[e] + 0.5) - (face.place.cell[e] + 0.5);
      }
      face.place.cell = wrapped(face.place.cell, coarse_domain);
      faces.push_back(face);
    }
  }
  return faces;
}

/// Σ w φ at a point, by the polynomial through these: of the highest degree that does not extrapolate far.
void add_value(const std::vector<Point>& points, const Vec3& at, double factor, double limit, Stencil& stencil) {
  std::vector<Vec3> r;
  for (const Point& p : points) r.push_back(p.at - at);
  std::vector<double> weight;
  for (int degree = 2; degree >= 0; --degree) {
    weight = fit_polynomial(r, degree);
    double sum = 0.0;
    for (const double w : weight) sum += std::abs(w);
    if (sum <= limit) break;
  }
  for (std::size_t i = 0; i < points.size(); ++i) stencil.add(points[i].unknown, factor * weight[i]);
}

/// Cell centre of the fine VoF, in coarse cell widths from the centre of the coarse cell.
Vec3 own_center(const FineFace& f) { return f.ghost - 0.5 * to_vec(steps_across(f.face)); }

/// ∂φ/∂n at the face times the fine cell width; n out of the fine VoF.
Stencil normal_difference(const LevelRows& fine, const FineFace& f, const Behind& behind) {
  const int d = direction_of(f.face.side);
  const double out = is_high(f.face.side) ? 1.0 : -1.0;
  Vec3 shift = f.face.centroid - to_vec(steps_across(f.face));  // from the middle of the cell's side to the face's
  shift[d] = 0.0;
  const Vec3 own = own_center(f);
  Stencil result;
  Vec3 inward = f.ghost;
  inward[d] -= 0.5 * out;
  const bool aligned = fine.vofs.inside(f.vof) && inward == own;
  const bool cut = dot(shift, shift) > 1e-12 && fine.maker.form() == WallForm::fluxes;
  std::vector<Point> points = points_around(fine.vofs, f.vof, aligned && !cut ? 1 : 2, 0.5, own);
  points.insert(points.end(), behind.points.begin(), behind.points.end());
  const double limit = fine.maker.form() == WallForm::fluxes ? largest_weights : std::numeric_limits<double>::max();
  if (aligned && !cut) {
    add_value(points, f.ghost, 1.0, limit, result);
    result.add(fine.vofs.number(f.vof), -1.0);
    return result;
  }
  add_value(points, f.ghost + 0.5 * shift, 1.0, limit, result);
  add_value(points, inward + 0.5 * shift, -1.0, limit, result);
  if (!aligned) return result;
  add_value(points, inward, 1.0, limit, result);  // the VoF's own value instead of the polynomial's
  result.add(fine.vofs.number(f.vof), -1.0);
  return result;
}

struct AddedTerm {
  GlobalNumber row;
  std::int32_t side, n_terms;
};

}  // namespace

std::vector<VofName> at_level_boundary(const VofLookup& vofs) {
  std::vector<VofName> names;
  for (int b = 0; b < vofs.graph().n_local(); ++b) {
    const BoxGraph graph = vofs.graph().box(b);
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

namespace {

/// Asks the owners of the places; one answer per face.
std::vector<Behind> ask_coarse(const Comm& comm, const Layout& layout, const CoarseSide& coarse,
                               const std::vector<FineFace>& faces) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (const std::int64_t box = layout.find_cell(faces[i].place.cell); box >= 0)
      of_rank[layout.owner(box)].push_back(i);
  std::vector<Message> out, answers;
  for (const auto& [rank, list] : of_rank) {
    ByteWriter w;
    for (const std::size_t i : list) w.put(faces[i].place);
    out.push_back({rank, w.take()});
  }
  for (const Message& m : comm.sparse_exchange(out)) {
    ByteWriter w;
    for (ByteReader in(m.bytes); !in.at_end();) {
      const Behind b = coarse.behind(in.get<Place>());
      w.put(b.found);
      w.put(b.vof);
      w.put(b.center);
      w.put(b.row);
      w.put_vector(b.points);
    }
    answers.push_back({m.rank, w.take()});
  }
  std::vector<Behind> result(faces.size());
  for (const Message& m : comm.sparse_exchange(answers)) {
    ByteReader in(m.bytes);
    for (const std::size_t i : of_rank.at(m.rank)) {
      result[i].found = in.get<bool>();
      result[i].vof = in.get<VofName>();
      result[i].center = in.get<Vec3>();
      result[i].row = in.get<GlobalNumber>();
      result[i].points = in.get_vector<Point>();
    }
  }
  return result;
}

/// Brings additions to their rows. Where the lines of the coarse row see fewer than the four fine faces (walls), those
/// that there are stand for the whole side.
void bring_home(const Comm& comm, const CompositeNumbering& numbering,
                const std::vector<std::pair<AddedTerm, Stencil>>& all, bool fill_sides, RowAdditions& additions) {
  std::map<int, ByteWriter> to_owner;
  for (const auto& [head, stencil] : all) {
    ByteWriter& w = to_owner[numbering.owner(head.row)];
    w.put(head);
    w.put(std::span<const StencilTerm>(stencil.terms));
  }
  std::vector<Message> out;
  for (auto& [rank, w] : to_owner) out.push_back({rank, w.take()});
  std::map<std::pair<std::int32_t, int>, std::pair<int, Stencil>> sides;
  for (const Message& m : comm.sparse_exchange(out))
    for (ByteReader in(m.bytes); !in.at_end();) {
      const auto head = in.get<AddedTerm>();
      auto& [n, stencil] = sides[{static_cast<std::int32_t>(head.row - numbering.first()), head.side}];
      ++n;
      for (int t = 0; t < head.n_terms; ++t) stencil.terms.push_back(in.get<StencilTerm>());
    }
  for (const auto& [key, value] : sides) {
    RowAddition& row = additions[key.first];
    row.sides |= 1U << key.second;
    row.stencil.add(value.second, fill_sides ? 4.0 / value.first : 1.0);
  }
}

/// Tells the VoFs on both sides of the faces which unknowns lie beyond.
void tell_what_lies_beyond(const Comm& comm, const LevelRows& coarse, const LevelRows& fine,
                           const std::vector<FineFace>& faces, const std::vector<Behind>& behind) {
  std::map<int, ByteWriter> to_owner;
  const auto seen_from = [](const std::vector<Point>& points, const Vec3& center, double per_width) {
    std::vector<PointBeyond> result;
    for (const Point& p : points) result.push_back({p.unknown, per_width * (p.at - center)});
    return result;
  };
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Behind& b = behind[i];
    if (!b.found) continue;
    const Vec3 own = own_center(faces[i]);
    fine.vofs.add_beyond(faces[i].vof, seen_from(b.points, own, 2.0));
    ByteWriter& w = to_owner[coarse.vofs.layout().owner(box_of(b.vof))];
    w.put(b.vof);
    w.put_vector(seen_from(points_around(fine.vofs, faces[i].vof, 1, 0.5, own), b.center, 1.0));
  }
  std::vector<Message> out;
  for (auto& [rank, w] : to_owner) out.push_back({rank, w.take()});
  for (const Message& m : comm.sparse_exchange(out))
    for (ByteReader in(m.bytes); !in.at_end();) {
      const auto vof = in.get<VofName>();
      coarse.vofs.add_beyond(vof, in.get_vector<PointBeyond>());
    }
}

}  // namespace

CoarseFineCounts add_coarse_fine_fluxes(const Comm& comm, const CompositeNumbering& numbering, const LevelRows& coarse,
                                        const LevelRows& fine, RowAdditions& additions) {
  const bool lines = fine.maker.form() == WallForm::lines;
  CoarseSide coarse_side(comm, coarse);
  coarse.vofs.fetch(comm, coarse_side.foreign(), 3);
  const std::vector<FineFace> faces = fine_faces(fine, coarse.vofs.layout().domain());
  std::map<Place, double> area;
  for (const FineFace& f : faces) area[f.place] += 0.25 * f.face.aperture;
  if (!lines) coarse_side.set_fine_areas(comm, area);
  const std::vector<Behind> behind = ask_coarse(comm, coarse.vofs.layout(), coarse_side, faces);
  if (!lines) tell_what_lies_beyond(comm, coarse, fine, faces, behind);
  const double h = std::ldexp(1.0, -fine.vofs.level());
  CoarseFineCounts counts;
  std::vector<std::pair<AddedTerm, Stencil>> to_coarse, to_fine;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const FineFace& f = faces[i];
    if (!behind[i].found) {
      ++counts.closed;
      continue;
    }
    ++counts.faces;
    Stencil flux;
    flux.add(normal_difference(fine, f, behind[i]),
             fine.maker.end_beta(f.vof, f.face) * h * (lines ? 1.0 : f.face.aperture));
    flux.merge();
    const auto n = static_cast<std::int32_t>(flux.terms.size());
    if (behind[i].row != no_unknown) to_coarse.push_back({{behind[i].row, f.place.side, n}, flux});
    Stencil out;
    out.add(flux, -1.0);
    to_fine.push_back({{fine.maker.balance_row(f.vof), f.face.side, n}, out});
  }
  bring_home(comm, numbering, to_coarse, lines, additions);
  bring_home(comm, numbering, to_fine, false, additions);
  std::array<std::int64_t, 2> sums{counts.faces, counts.closed};
  comm.sum(std::span(sums));
  return {sums[0], sums[1]};
}

}  // namespace karst
