// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/coarse_fine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/comm/parallel.hpp"
#include "eb/link/least_squares.hpp"
#include "fields/level_faces.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr double largest_flux_weights = 5.0;  ///< fluxes: of a polynomial, Σ |weights|

/// Σ w φ at a point, by the polynomial through these: of the highest degree that does not extrapolate far.
void add_value(const std::vector<LevelPoint>& points, const Vec3& at, double factor, double limit, Stencil& stencil) {
  std::vector<Vec3> r;
  for (const LevelPoint& p : points) r.push_back(p.at - at);
  std::vector<double> weight;
  for (int degree = 2; degree >= 0; --degree) {
    weight = fit_polynomial(r, degree);
    double sum = 0.0;
    for (const double w : weight) sum += std::abs(w);
    if (sum <= limit) break;
  }
  for (std::size_t i = 0; i < points.size(); ++i) stencil.add(points[i].unknown, factor * weight[i]);
}

/// ∂φ/∂n at the face times the fine cell width; n out of the fine VoF.
Stencil normal_difference(const LevelRows& fine, const LevelFace& f) {
  const int d = direction_of(f.face.side);
  const double out = is_high(f.face.side) ? 1.0 : -1.0;
  Vec3 shift = f.face.centroid - to_vec(f.steps());  // from the middle of the cell's side to the face's
  shift[d] = 0.0;
  const Vec3 own = f.own_center();
  Stencil result;
  Vec3 inward = f.ghost;
  inward[d] -= 0.5 * out;
  const bool aligned = fine.vofs.inside(f.vof) && inward == own;
  const bool cut = dot(shift, shift) > 1e-12 && fine.maker.form() == WallForm::fluxes;
  std::vector<LevelPoint> points = points_around(fine.vofs, f.vof, aligned && !cut ? 1 : 2, 0.5, own);
  points.insert(points.end(), f.behind.points.begin(), f.behind.points.end());
  const double limit =
      fine.maker.form() == WallForm::fluxes ? largest_flux_weights : std::numeric_limits<double>::max();
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

/// What the faces stand for that a side of a row has. Where the lines of a coarse row see fewer than the four fine
/// faces (walls), those that there are stand for the whole side.
enum class FacesStandFor { themselves, whole_side };

/// Brings additions to their rows.
void bring_home(const Comm& comm, const CompositeNumbering& numbering,
                const std::vector<std::pair<AddedTerm, Stencil>>& all, FacesStandFor meaning, RowAdditions& additions) {
  std::map<int, ByteWriter> to_owner;
  for (const auto& [head, stencil] : all) {
    ByteWriter& w = to_owner[numbering.owner(head.row)];
    w.put(head);
    w.put(std::span<const StencilTerm>(stencil.terms));
  }
  std::map<std::pair<std::int32_t, int>, std::pair<int, Stencil>> sides;
  send_to_ranks(comm, std::move(to_owner), [&](ByteReader& in, int) {
    const auto head = in.get<AddedTerm>();
    auto& [n, stencil] = sides[{static_cast<std::int32_t>(head.row - numbering.first()), head.side}];
    ++n;
    for (int t = 0; t < head.n_terms; ++t) stencil.terms.push_back(in.get<StencilTerm>());
  });
  for (const auto& [key, value] : sides) {
    RowAddition& row = additions[key.first];
    row.sides |= 1U << key.second;
    row.stencil.add(value.second, meaning == FacesStandFor::whole_side ? 4.0 / value.first : 1.0);
  }
}

/// Which of the VoFs of a face are told what lies beyond: rows near them are made.
struct Told {
  bool coarse = true, fine = true;
};

/// Tells the VoFs on both sides of the faces which unknowns lie beyond.
void tell_what_lies_beyond(const Comm& comm, const LevelRows& coarse, const LevelRows& fine,
                           const std::vector<LevelFace>& faces, const std::vector<Told>& told) {
  std::map<int, ByteWriter> to_owner;
  const auto seen_from = [](const std::vector<LevelPoint>& points, const Vec3& center, double per_width) {
    std::vector<PointBeyond> result;
    for (const LevelPoint& p : points) result.push_back({p.unknown, per_width * (p.at - center)});
    return result;
  };
  std::vector<std::vector<PointBeyond>> from_coarse(faces.size());
  parallel_for(std::ssize(faces), [&](std::int64_t i) {
    const LevelFace& f = faces[i];
    if (f.behind.found && told[i].coarse)
      from_coarse[i] = seen_from(points_around(fine.vofs, f.vof, 1, 0.5, f.own_center()), f.behind.center, 1.0);
  });
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const LevelFace& f = faces[i];
    const BehindFace& b = f.behind;
    if (!b.found) continue;
    if (told[i].fine) fine.vofs.add_beyond(f.vof, seen_from(b.points, f.own_center(), 2.0));
    if (!told[i].coarse) continue;
    if (coarse.vofs.graph().local(box_of(b.vof)) >= 0) {
      coarse.vofs.add_beyond(b.vof, from_coarse[i]);
      continue;
    }
    ByteWriter& w = to_owner[coarse.vofs.layout().owner(box_of(b.vof))];
    w.put(b.vof);
    w.put_vector(from_coarse[i]);
  }
  send_to_ranks(comm, std::move(to_owner), [&](ByteReader& in, int) {
    const auto vof = in.get<VofName>();
    coarse.vofs.add_beyond(vof, in.get_vector<PointBeyond>());
  });
}

/// The flux that enters a fine VoF through a face: β α h (φ_ghost - φ_v), merged.
Stencil coarse_fine_flux(const LevelRows& fine, const LevelFace& f) {
  const bool lines = fine.maker.form() == WallForm::lines;
  const double h = std::ldexp(1.0, -fine.vofs.level());
  Stencil flux;
  flux.add(normal_difference(fine, f),
           fine.maker.beta_at(f.vof, f.face.side, f.face.neighbour) * h * (lines ? 1.0 : f.face.aperture));
  flux.merge();
  return flux;
}

/// The faces of two levels through which there are fluxes.
struct Crossing {
  struct Face {
    std::size_t number;  ///< in Composite::coarse_fine()
    std::int32_t place;  ///< in `asked`; -1: nothing is asked about it
    bool known;          ///< its flux
  };
  std::vector<Face> all;
  std::vector<LevelFace> asked;
  std::vector<Told> told;  ///< parallel
};

Crossing find_crossing(std::span<const LevelFace> all, const LevelRows& coarse, const LevelRows& fine,
                       const KnownFluxes& before) {
  Crossing found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LevelFace& f = all[i];
    if (!fine.maker.crosses_levels(f.vof, f.face)) continue;
    const bool known = !before.known.empty() && before.known[i] != 0;
    const Told told =
        known ? Told{!before.is_far(coarse.vofs.level(), f.behind.vof), !before.is_far(fine.vofs.level(), f.vof)}
              : Told{};
    const bool asks = !known || told.coarse || told.fine;
    found.all.push_back({i, asks ? static_cast<std::int32_t>(found.asked.size()) : -1, known});
    if (!asks) continue;
    found.asked.push_back(f);
    found.told.push_back(told);
  }
  return found;
}

}  // namespace

CoarseFineCounts add_coarse_fine_fluxes(const Composite& composite, const LevelRows& coarse, const LevelRows& fine,
                                        const KnownFluxes& before, RowAdditions& additions,
                                        const std::function<void(std::size_t face, const Stencil& flux)>& told) {
  const Comm& comm = composite.comm();
  const CompositeNumbering& numbering = composite.numbering();
  const bool lines = fine.maker.form() == WallForm::lines;
  const std::span<const LevelFace> all = composite.coarse_fine(coarse.vofs.level());
  Crossing faces = find_crossing(all, coarse, fine, before);
  look_behind(comm, {coarse.vofs, [&](VofName v) { return coarse.maker.balance_row(v); }, {}}, faces.asked);
  if (!lines) tell_what_lies_beyond(comm, coarse, fine, faces.asked, faces.told);
  CoarseFineCounts counts;
  std::vector<std::pair<AddedTerm, Stencil>> to_coarse, to_fine;
  const auto add = [&](GlobalNumber row, int side, const Stencil& flux, double factor, auto& to) {
    if (row == no_unknown) return;
    if (!before.known.empty() && before.has_row(row)) {
      additions[static_cast<std::int32_t>(row - numbering.first())].sides |= 1U << side;
      return;
    }
    Stencil part;
    part.add(flux, factor);
    to.push_back({{row, side, static_cast<std::int32_t>(flux.terms.size())}, std::move(part)});
  };
  std::vector<Stencil> fluxes(faces.all.size());
  parallel_for(std::ssize(fluxes), [&](std::int64_t i) {
    const Crossing::Face& face = faces.all[i];
    if (face.known)
      before.read(face.number, fluxes[i]);
    else if (const LevelFace& f = faces.asked[face.place]; f.behind.found)
      fluxes[i] = coarse_fine_flux(fine, f);
  });
  for (std::size_t i = 0; i < fluxes.size(); ++i) {
    const Crossing::Face& face = faces.all[i];
    const LevelFace& f = face.place < 0 ? all[face.number] : faces.asked[face.place];
    const Stencil& flux = fluxes[i];
    if (!f.behind.found) {
      ++counts.closed;
      continue;
    }
    ++counts.faces;
    if (told) told(face.number, flux);
    add(face.place < 0 ? coarse.maker.balance_row(f.behind.vof) : f.behind.row, f.place.side, flux, 1.0, to_coarse);
    add(fine.maker.balance_row(f.vof), f.face.side, flux, -1.0, to_fine);
  }
  bring_home(comm, numbering, to_coarse, lines ? FacesStandFor::whole_side : FacesStandFor::themselves, additions);
  bring_home(comm, numbering, to_fine, FacesStandFor::themselves, additions);
  std::array<std::int64_t, 2> sums{counts.faces, counts.closed};
  comm.sum(std::span(sums));
  return {sums[0], sums[1]};
}

}  // namespace karst
