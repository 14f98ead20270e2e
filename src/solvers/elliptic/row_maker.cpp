// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/row_maker.hpp"

#include <array>
#include <cmath>

#include "eb/link/least_squares.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/elliptic/row_counts.hpp"

namespace karst {

namespace {

constexpr double least_wall_distance = 0.05;  ///< of a value to its wall, in h: what is nearer counts as this
/// Gradients of a lower quality (eb/link/least_squares.hpp) and extrapolations with Σ |weights| above this are not
/// used: they cost many more iterations.
constexpr double least_quality = 1.2, largest_weights = 20.0;
/// Of a corrected difference of two values, in those of the plain one: beyond it the plain one is taken. The
/// preconditioner overshoots by the same factor.
constexpr double largest_stiffness = 2.5;
constexpr double least_quality_between_levels = 0.02;  ///< one-sided there without being a throat
constexpr double least_flatness = 0.9;                 ///< |area vector of the wall| / area

bool fixes(const Condition& c) { return c.kind == BoundaryKind::dirichlet; }

}  // namespace

RowCounts& RowCounts::operator+=(const RowCounts& o) {
  std::array<std::int64_t, n_counts> more{};
  auto to = more.begin();
  for_each_count(o, [&](const char*, std::int64_t n) { *to++ = n; });
  auto next = more.begin();
  for_each_count(*this, [&](const char*, std::int64_t& n) { n += *next++; });
  return *this;
}

RowMaker::RowMaker(const VofLookup& vofs, const EllipticProblem& problem, const FaceBetas* betas, WallForm form)
    : vofs_(vofs), problem_(problem), betas_(betas), form_(form), h_(std::ldexp(1.0, -vofs.level())) {}

void RowMaker::make(VofName v, std::int32_t number, unsigned between_levels, MadeFaces& made, RowCounts& counts,
                    Row& row) const {
  row.clear();
  row.number = number;
  row.orphan = !vofs_.inside(v);
  if (form_ == WallForm::lines) {
    add_lines(v, between_levels, row, counts);
    return;
  }
  const Host to = host(v);
  counts.orphans_alone += to.name == no_face && !vofs_.inside(v);
  if (to.name == no_face) {
    add_fluxes(v, row, made, counts);
    add_joined(v, row, made, counts);
  } else {
    ++counts.orphans_joined;
    if (interpolate_to_end(v, to, row))
      ++counts.orphans_at_end;
    else
      extrapolate(v, to, row);
  }
}

Vec3 RowMaker::position(VofName v, const Vec3& in_cell) const {
  return h_ * (to_vec(vofs_.cell(v)) + Vec3::all(0.5) + in_cell);
}

WallPiece wall_piece(const VofMoments& moments, int level, std::int64_t row, const WallParts& parts,
                     const Vec3& position) {
  const double length = norm(moments.wall);
  return {position,
          length > 0.0 ? (1.0 / length) * moments.wall : Vec3{},
          std::ldexp(moments.wall_area, -2 * level),
          level,
          row,
          parts};
}

/// At the centroid of its wall: kind and rate.
Condition RowMaker::wall_condition(VofName v) const {
  const VofMoments& m = *vofs_.moments(v);
  return problem_.wall(wall_piece(m, vofs_.level(), vofs_.row(v), vofs_.wall_parts(v), position(v, m.wall_centroid)));
}

void RowMaker::add_wall_term(VofName v, double weight, const Vec3& at, Row& row) const {
  row.walls.push_back({row.number, vofs_.number(v), weight,
                       wall_piece(*vofs_.moments(v), vofs_.level(), vofs_.row(v), vofs_.wall_parts(v), at)});
}

double RowMaker::beta_at(VofName v, int side, VofName neighbour) const {
  return betas_ == nullptr ? problem_.beta : betas_->of(v, side, neighbour);
}

double RowMaker::wall_beta(VofName v) const {
  if (betas_ == nullptr) return problem_.beta;
  double sum = 0.0, area = 0.0;
  for (const auto& [face, side] : vofs_.shared_faces(v)) {
    sum += face.aperture * beta_at(v, side, is_high(side) ? face.high : face.low);
    area += face.aperture;
  }
  return area > 0.0 ? sum / area : problem_.beta;
}

void RowMaker::add_difference(VofName from, VofName to, double weight, Stencil& stencil) const {
  stencil.add(vofs_.number(to), weight);
  stencil.add(vofs_.number(from), -weight);
}

GlobalNumber RowMaker::balance_row(VofName v) const {
  if (form_ == WallForm::lines) return vofs_.inside(v) ? vofs_.number(v) : no_unknown;
  const Host to = host(v);
  return vofs_.number(to.name == no_face ? v : to.name);
}

bool RowMaker::crosses_levels(VofName v, const ListedFace& face) const {
  if (form_ == WallForm::fluxes) return true;
  const VofCenter* center = vofs_.center(v);
  if (center == nullptr) return true;
  return center->inside && face.primary && center->wall_distance[face.side] > 1.0F;
}

// A condition on an end of the domain, two points: the value of the VoF and the plane of the face.
void RowMaker::add_domain_face(VofName v, const ListedFace& face, double aperture, Row& row) const {
  const int d = direction_of(face.side);
  const Vec3 point = vofs_.point(v);
  Vec3 front = point;  // on the plane of the face, in front of the value
  front[d] = face.centroid[d];
  const double distance = std::max(std::abs(front[d] - point[d]), least_wall_distance);
  const ConditionAt& at = problem_.sides[face.side];
  const Vec3 there = position(v, form_ == WallForm::lines ? front : face.centroid);
  const Condition c = at ? at(there) : Condition{};
  const auto where = static_cast<std::int8_t>(face.side);
  const double area = aperture * h_ * h_;
  if (c.kind == BoundaryKind::neumann) {
    if (at) row.sides.push_back({row.number, where, area, there});
    return;
  }
  const double beta = beta_at(v, face.side, face.neighbour);
  const double exchange = beta / (distance * h_);
  if (c.kind == BoundaryKind::dirichlet) {
    row.stencil.add(vofs_.number(v), area * exchange);
    row.sides.push_back({row.number, where, area * exchange, position(v, front)});
  } else {
    const double damped = area / (1.0 + c.rate / exchange);
    row.stencil.add(vofs_.number(v), damped * c.rate);
    row.sides.push_back({row.number, where, damped, there});
  }
}

void RowMaker::add_lines(VofName v, unsigned between_levels, Row& row, RowCounts& counts) const {
  const GlobalNumber self = vofs_.number(v);
  const VofCenter* center = vofs_.center(v);
  if (center != nullptr && !center->inside) {
    const double weight = wall_beta(v) * h_;
    row.stencil.add(self, weight);
    const VofMoments* m = vofs_.moments(v);
    add_wall_term(v, weight, position(v, m->wall_area > 0.0 ? m->wall_centroid : m->centroid), row);
    ++counts.orphans_pinned;
    return;
  }
  row.volume.add(self, h_ * h_ * h_);
  for (int side = 0; side < 6; ++side)
    if ((between_levels >> side & 1U) == 0) add_line(v, side, row, counts);
}

RowMaker::LineEnd RowMaker::add_line(VofName v, int side, Row& row, RowCounts& counts) const {
  const int d = direction_of(side);
  const VofCenter* center = vofs_.center(v);
  const VofName to = vofs_.neighbour(v, side);
  const float wall = center == nullptr ? no_wall : center->wall_distance[side];
  if (const VofName n = vofs_.aligned(v, side); n != no_face && vofs_.number(n) != no_unknown) {
    const double beta = beta_at(v, side, n);
    add_difference(v, n, -beta * h_, row.stencil);
    return LineEnd::vof;
  }
  if (to == domain_face && wall > 0.5F) {
    Vec3 face;
    face[d] = is_high(side) ? 0.5 : -0.5;
    add_domain_face(v, {side, to, true, 1.0, face}, 1.0, row);
    return LineEnd::domain;
  }
  double theta = std::max(double{wall}, least_line);
  if (wall > 1.0F) {
    theta = 0.5;
    ++counts.lines_without_wall;
  }
  const double weight = wall_beta(v) * h_ / theta;
  Vec3 at;
  at[d] = is_high(side) ? theta : -theta;
  row.stencil.add(vofs_.number(v), weight);
  add_wall_term(v, weight, position(v, at), row);
  return LineEnd::wall;
}

VofGradient RowMaker::gradient(VofName v) const {
  std::vector<VofName> names;
  std::vector<Vec3> r;
  const Vec3 here = vofs_.point(v);
  const auto add = [&](VofName n, const Vec3& at) {
    if (n == v || vofs_.number(n) == no_unknown || std::find(names.begin(), names.end(), n) != names.end()) return;
    if (dot(at, at) < 1e-6) return;
    names.push_back(n);
    r.push_back(at);
  };
  struct Near {
    VofName name;
    Index step;
  };
  std::vector<Near> ring;
  bool between_levels = false;
  for (const ListedFace& f : vofs_.faces(v)) {
    between_levels = between_levels || f.neighbour == coarse_face;
    if (!is_vof(f.neighbour)) continue;
    between_levels = between_levels || vofs_.number(f.neighbour) == no_unknown;
    const Index step = vofs_.step(v, f.neighbour, f.side);
    ring.push_back({f.neighbour, step});
    add(f.neighbour, to_vec(step) + vofs_.point(f.neighbour) - here);
  }
  // In a direction of one cell nothing varies: there the VoF is its own neighbour.
  for (int d = 0; d < 3; ++d)
    for (const int side : {2 * d, 2 * d + 1})
      if (vofs_.layout().domain().cells[d] == 1) {
        names.push_back(v);
        r.push_back(to_vec(side_offset(side)));
      }
  const double least = between_levels ? least_quality_between_levels : least_quality;
  GradientFit fit = fit_gradient(r, least);
  if (fit.quality < least_quality) {
    for (const Near& n : ring) {
      if (!vofs_.knows(n.name)) continue;
      for (const ListedFace& f : vofs_.faces(n.name)) {
        if (!is_vof(f.neighbour) || !vofs_.knows(f.neighbour)) continue;
        const Index step = n.step + vofs_.step(n.name, f.neighbour, f.side);
        if (std::abs(step[0]) > 1 || std::abs(step[1]) > 1 || std::abs(step[2]) > 1) continue;
        add(f.neighbour, to_vec(step) + vofs_.point(f.neighbour) - here);
      }
    }
    fit = fit_gradient(r, least);
  }
  const GlobalNumber self = vofs_.number(v);
  VofGradient result{fit.resolved == 3, {}};
  for (std::size_t i = 0; i < r.size(); ++i)
    for (int d = 0; d < 3; ++d) {
      Stencil& s = result.of[d];
      s.add(vofs_.number(names[i]), fit.weight[i][d]);
      s.add(self, -fit.weight[i][d]);
    }
  return result;
}

/// Walls bend so much inside a VoF (contacts, throats) that no fit through its neighbours means anything.
bool RowMaker::is_tight(VofName v) const {
  const VofMoments* m = vofs_.moments(v);
  return m != nullptr && norm(m->wall) < least_flatness * m->wall_area;
}

/// The aligned pair one step towards a side; no_face where one of the two is missing.
RowMaker::Pair RowMaker::pair_beside(const Pair& pair, int direction, int towards) const {
  const VofName low = vofs_.aligned(pair.low, towards);
  if (low == no_face) return {};
  const VofName high = vofs_.aligned(pair.high, towards);
  if (high == no_face || vofs_.number(low) == no_unknown || vofs_.number(high) == no_unknown) return {};
  if (vofs_.aligned(low, high_side(direction)) != high) return {};
  return {low, high, {}};
}

/// The pair of aligned unknowns whose line passes nearest to the centroid of a face: the two VoFs themselves, or one of
/// them and its neighbour across the same side.
RowMaker::Pair RowMaker::nearest_pair(const SharedFace& face) const {
  const int d = face.direction;
  const VofName above = vofs_.aligned(face.low, high_side(d)), below = vofs_.aligned(face.high, low_side(d));
  Vec3 from_high = face.centroid - to_vec(vofs_.step(face.low, face.high, high_side(d)));
  Vec3 from_low = face.centroid;
  from_low[d] = from_high[d] = 0.0;
  std::array<Pair, 2> pairs{Pair{face.low, above, from_low}, Pair{below, face.high, from_high}};
  if (above == face.high) return pairs[0];
  Pair best;
  constexpr double farthest = 1.5;
  double least = farthest * farthest;
  for (const Pair& p : pairs) {
    if (p.low == no_face || p.high == no_face || dot(p.offset, p.offset) >= least) continue;
    if (vofs_.number(p.low) == no_unknown || vofs_.number(p.high) == no_unknown) continue;
    least = dot(p.offset, p.offset);
    best = p;
  }
  return best;
}

void RowMaker::face_difference(const SharedFace& face, MadeFaces& made, FaceDifference& result) const {
  if (is_tight(face.low) || is_tight(face.high)) {
    add_difference(face.low, face.high, 1.0, result.stencil);
    result.count(&RowCounts::faces_tight);
    return;
  }
  const Pair pair = nearest_pair(face);
  if (pair.low == no_face) {
    result.stencil = slanted_difference(face, made, result);
    result.stencil.merge();
    return;
  }
  if (pair.low != face.low || pair.high != face.high) result.count(&RowCounts::faces_from_beside);
  add_difference(pair.low, pair.high, 1.0, result.stencil);
  constexpr double small = 1e-6;  // face centroids are floats
  int corrected = 0, extrapolated = 0, missed = 0;
  for (int d = 0; d < 3; ++d) {
    const double t = pair.offset[d];
    if (d == face.direction || std::abs(t) < small) continue;
    double weight = std::abs(t);
    Pair beside = pair_beside(pair, face.direction, side_of(d, t > 0.0));
    if (beside.low == no_face) {
      weight = -weight;
      beside = pair_beside(pair, face.direction, side_of(d, t < 0.0));
      if (beside.low == no_face) {
        ++missed;
        continue;
      }
      ++extrapolated;
    }
    ++corrected;
    add_difference(beside.low, beside.high, weight, result.stencil);
    add_difference(pair.low, pair.high, -weight, result.stencil);
  }
  if (missed > 0)
    result.count(corrected > 0 ? &RowCounts::faces_one_way : &RowCounts::faces_at_center);
  else if (corrected > 0)
    result.count(extrapolated > 0 ? &RowCounts::faces_extrapolated : &RowCounts::faces_at_centroid);
  result.stencil.merge();
}

// The difference of the two values, as the two-point operator has it, and what a linear function changes beside it.
Stencil RowMaker::slanted_difference(const SharedFace& face, MadeFaces& made, FaceDifference& told) const {
  told.count(&RowCounts::faces_slanted);
  const Vec3 line = to_vec(vofs_.step(face.low, face.high, high_side(face.direction))) + vofs_.point(face.high) -
                    vofs_.point(face.low);
  Stencil result;
  add_difference(face.low, face.high, 1.0, result);
  std::array<VofName, 2> ends{face.low, face.high};
  std::array<bool, 2> usable{};
  std::array<const VofGradient*, 2> gradients{};
  for (std::size_t e = 0; e < 2; ++e) {
    gradients[e] = &made.gradient(ends[e], [&] { return gradient(ends[e]); });
    usable[e] = gradients[e]->resolved;
  }
  if (usable[0] && usable[1] && vofs_.inside(face.low) != vofs_.inside(face.high))
    usable[vofs_.inside(face.low) ? 1 : 0] = false;
  const int n = usable[0] + usable[1];
  if (n == 0) {
    told.count(&RowCounts::faces_without_gradient);
    return result;
  }
  Stencil two_points = result;
  for (std::size_t e = 0; e < 2; ++e) {
    if (!usable[e]) continue;
    for (int d = 0; d < 3; ++d) {
      const double weight = ((d == face.direction ? 1.0 : 0.0) - line[d]) / n;
      result.add(gradients[e]->of[d], weight);
    }
  }
  if (std::max(-result.weight_of(vofs_.number(face.low)), result.weight_of(vofs_.number(face.high))) >
      largest_stiffness) {
    told.count(&RowCounts::faces_too_stiff);
    return two_points;
  }
  return result;
}

int RowMaker::fixed_end(VofName v) const {
  int side = -1;
  double largest = 0.0;
  for (const ListedFace& f : vofs_.faces(v)) {
    const ConditionAt& at = problem_.sides[f.side];
    if (f.neighbour != domain_face || !at || f.aperture <= largest || !fixes(at(position(v, f.centroid)))) continue;
    largest = f.aperture;
    side = f.side;
  }
  return side;
}

/// An orphan that hangs on its neighbours alone: what its wall gives off or takes up must pass its small faces. Or one
/// at a fixed end of the domain: beside what it exchanges with the end its other fluxes are as good as nothing.
bool RowMaker::needs_host(VofName v) const {
  if (vofs_.inside(v) || is_tight(v)) return false;
  const VofMoments& m = *vofs_.moments(v);
  if (problem_.wall && m.wall_area > 0.0 && fixes(wall_condition(v))) return false;
  return problem_.wall || fixed_end(v) >= 0;
}

RowMaker::Host RowMaker::host(VofName v, int depth) const {
  constexpr int longest_chain = 3;
  if (depth == longest_chain || !needs_host(v)) return {};
  Host best;
  double largest = 0.0;
  const auto faces = vofs_.shared_faces(v);
  for (int pass = 0; pass < 2 && best.name == no_face; ++pass)  // first those inside, then those with a host
    for (std::size_t i = 0; i < faces.size(); ++i) {
      const auto& [face, side] = faces[i];
      const VofName n = is_high(side) ? face.high : face.low;
      if (face.aperture <= largest || n == v || vofs_.number(n) == no_unknown) continue;
      const Vec3 away = to_vec(vofs_.step(n, v, opposite(side))) + vofs_.point(v) - vofs_.point(n);
      Host found{n, away, static_cast<int>(i)};
      if (!vofs_.inside(n)) {
        if (pass == 0) continue;
        found = host(n, depth + 1);
        found.distance += away;
        found.face = static_cast<int>(i);
      }
      if (found.name == no_face || found.name == v || is_tight(found.name)) continue;
      largest = face.aperture;
      best = found;
    }
  return best;
}

// The value of an orphan at an end of the domain that fixes φ = g: on the way from there to the host,
// φ_o = g_o + d_o / d_host (φ_host - g_host), d the distances from the end, g at the feet of both. No value is left
// out.
bool RowMaker::interpolate_to_end(VofName v, const Host& from, Row& row) const {
  const int side = fixed_end(v);
  if (side < 0) return false;
  const int d = direction_of(side);
  const double end = is_high(side) ? vofs_.layout().domain().cells[d] : 0.0;
  const auto distance = [&](VofName n) { return std::abs(vofs_.cell(n)[d] + 0.5 + vofs_.point(n)[d] - end); };
  const double share = distance(v) / distance(from.name);
  if (!(share < 1.0)) return false;
  const auto foot = [&](VofName n) {
    Vec3 at = position(n, vofs_.point(n));
    at[d] = h_ * end;
    return at;
  };
  const ConditionAt& at = problem_.sides[side];
  if (!fixes(at(foot(v))) || !fixes(at(foot(from.name)))) return false;
  const double weight = wall_beta(v) * h_;
  row.stencil.add(vofs_.number(v), weight);
  row.stencil.add(vofs_.number(from.name), -weight * share);
  row.sides.push_back({row.number, static_cast<std::int8_t>(side), weight, foot(v)});
  row.sides.push_back({row.number, static_cast<std::int8_t>(side), -weight * share, foot(from.name)});
  return true;
}

// The value of an orphan: the quadratic polynomial through the unknowns around its host, of both levels where the
// host or its neighbours touch another one.
void RowMaker::extrapolate(VofName v, const Host& from, Row& row) const {
  std::vector<VofName> names{from.name};
  std::vector<Vec3> at{-from.distance};
  std::size_t begin = 0, near = 0;  // near: the host and those beside it
  for (int ring = 0; ring < 3; ++ring) {
    const std::size_t end = names.size();
    if (ring == 1) near = end;
    for (std::size_t i = begin; i < end; ++i)
      for (int side = 0; side < 6; ++side) {
        const VofName n = vofs_.aligned(names[i], side);
        if (n == no_face || vofs_.number(n) == no_unknown) continue;
        if (std::find(names.begin(), names.end(), n) != names.end()) continue;
        names.push_back(n);
        at.push_back(at[i] + to_vec(side_offset(side)));
      }
    begin = end;
  }
  std::vector<GlobalNumber> unknowns;
  for (const VofName n : names) unknowns.push_back(vofs_.number(n));
  for (std::size_t i = 0; i < near; ++i)
    for (const PointBeyond& p : vofs_.beyond(names[i])) {
      if (std::find(unknowns.begin(), unknowns.end(), p.unknown) != unknowns.end()) continue;
      unknowns.push_back(p.unknown);
      at.push_back(at[i] + p.at);
    }
  std::vector<double> fit;
  for (int degree = 2; degree >= 0; --degree) {
    fit = fit_polynomial(at, degree);
    double sum = 0.0;
    for (const double w : fit) sum += std::abs(w);
    if (sum <= largest_weights) break;
  }
  const double weight = wall_beta(v) * h_;
  row.stencil.add(vofs_.number(v), weight);
  for (std::size_t i = 0; i < unknowns.size(); ++i) row.stencil.add(unknowns[i], -weight * fit[i]);
}

/// Balances of the orphans that have v as their host.
void RowMaker::add_joined(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const {
  std::vector<VofName> reached{v};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const ListedFace& f : vofs_.faces(reached[i])) {
      const VofName n = f.neighbour;
      if (!is_vof(n) || vofs_.inside(n) || vofs_.number(n) == no_unknown) continue;
      if (std::find(reached.begin(), reached.end(), n) != reached.end() || host(n).name != v) continue;
      reached.push_back(n);
      add_fluxes(n, row, made, counts);
    }
}

void RowMaker::add_fluxes(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const {
  const VofMoments* m = vofs_.moments(v);
  row.volume.add(vofs_.number(v), (m == nullptr ? 1.0 : m->kappa) * h_ * h_ * h_);
  for (const auto& [face, side] : vofs_.shared_faces(v))
    if (vofs_.number(is_high(side) ? face.high : face.low) != no_unknown)  // else a coarse-fine face
      add_face(v, face, side, row, made, counts);
  for (const ListedFace& f : vofs_.faces(v))
    if (f.neighbour == domain_face) add_domain_face(v, f, f.aperture, row);
  if (m != nullptr && m->wall_area > 0.0) add_wall_flux(v, row, made, counts);
}

void RowMaker::add_face(VofName v, const SharedFace& face, int side, Row& row, MadeFaces& made,
                        RowCounts& counts) const {
  const double beta = beta_at(v, side, is_high(side) ? face.high : face.low);
  const MadeDifference difference =
      made.difference(face, [&](FaceDifference& result) { face_difference(face, made, result); });
  for (const auto count : difference.counts)
    if (count != nullptr) ++(counts.*count);
  row.stencil.add(difference.terms, (is_high(side) ? -1.0 : 1.0) * beta * h_ * face.aperture);
}

void RowMaker::add_wall_flux(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const {
  if (!problem_.wall) return;
  const VofMoments& m = *vofs_.moments(v);
  const Vec3 at = position(v, m.wall_centroid);
  const Condition c = wall_condition(v);
  const double area = m.wall_area * h_ * h_;
  if (c.kind == BoundaryKind::neumann) return add_wall_term(v, area, at, row);
  const GlobalNumber self = vofs_.number(v);
  const Vec3 point = vofs_.point(v);
  const double flat = norm(m.wall);
  const bool plane = flat > 0.5 * m.wall_area;
  const Vec3 normal = plane ? (1.0 / flat) * m.wall : Vec3{};
  double distance = plane ? dot(point - m.wall_centroid, normal) : 0.5 * m.kappa / m.wall_area;
  counts.walls_without_plane += !plane;
  if (distance < least_wall_distance) {
    distance = least_wall_distance;
    ++counts.walls_near;
  }
  const double exchange = wall_beta(v) / (distance * h_);
  if (c.kind == BoundaryKind::dirichlet) {
    row.stencil.add(self, area * exchange);
    return add_wall_term(v, area * exchange, plane ? position(v, point - distance * normal) : at, row);
  }
  row.robin.push_back({row.walls.size(), area, exchange, c.rate, {}});
  Stencil& value_at_wall = row.robin.back().value_at_wall;
  add_wall_term(v, area, at, row);  // times 1 / (1 + rate / exchange), when the rate is known
  value_at_wall.add(self, 1.0);
  const VofGradient* g = plane ? &made.gradient(v, [&] { return gradient(v); }) : nullptr;
  if (g == nullptr || !g->resolved) {
    ++counts.walls_without_gradient;
    return;
  }
  const Vec3 shift = m.wall_centroid + distance * normal - point;
  for (int d = 0; d < 3; ++d) value_at_wall.add(g->of[d], shift[d]);
}

}  // namespace karst
