// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_band.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

namespace {

constexpr double largest_hidden = 1.5;  // |p| at a corner that hides a wall between corners
constexpr double flat = 1e-8;           // |∇p|² that says nothing about a direction

/// Second difference for a one-sided first one, of third order where both are alike.
/// @param upwind, central  of p, around the corner upwind and around this one
double weighted(double upwind, double central) {
  constexpr double small = 1e-6;
  const double ratio = (small + upwind * upwind) / (small + central * central);
  return central + (upwind - central) / (1.0 + 2.0 * ratio * ratio);
}

Index nearest_corner(const Box& within, const Vec3& x) {
  Index c;
  for (int d = 0; d < 3; ++d)
    c[d] = static_cast<int>(
        std::floor(std::clamp(x[d], static_cast<double>(within.lo[d]), static_cast<double>(within.hi[d] - 1)) + 0.5));
  return c;
}

Vec3 unit_vector(int d) { return to_vec(unit(d)); }

/// Along the gradient to the wall, at most by one.
Vec3 projection(const CornerValues& p, const Index& corner) {
  const double* at = p.at(corner);
  Vec3 g;
  for (int d = 0; d < 3; ++d) g[d] = 0.5 * (at[p.stride(d)] - at[-p.stride(d)]);
  const double g2 = dot(g, g);
  if (g2 < flat) return to_vec(corner);
  const double length = std::abs(*at) / std::sqrt(g2);
  return to_vec(corner) - *at / (g2 * std::max(1.0, length)) * g;
}

/// Newton's step for a foot; where it would lead away from it, the tangential part is that of a flat wall.
/// @param from  y - x
Vec3 step_to_foot(const Taylor& q, const Vec3& from) {
  const Vec3& g = q.slope;
  const double g2 = dot(g, g), lambda = -dot(from, g) / g2;
  std::array<Vec3, 3> a;
  for (int d = 0; d < 3; ++d) a[d] = unit_vector(d) + lambda * q.curvature[d];
  const Vec3 c0 = cross(a[1], a[2]), c1 = cross(a[2], a[0]), c2 = cross(a[0], a[1]);  // of the inverse, symmetric
  const double determinant = dot(a[0], c0);
  const Vec3 rest = from + lambda * g;
  if (determinant < 0.05 || a[0][0] <= 0.0 || c2[2] <= 0.0) return -(q.value / g2) * g - 0.5 * rest;
  const auto solved = [&](const Vec3& b) { return (1.0 / determinant) * (b[0] * c0 + b[1] * c1 + b[2] * c2); };
  const Vec3 u = solved(rest), w = solved(g);
  return -u - ((q.value - dot(g, u)) / dot(g, w)) * w;
}

/// The quadratic polynomial around a corner, at the corner itself.
Taylor quadratic_around(const CornerValues& f, const Index& c) {
  const double* at = f.at(c);
  Taylor q{*at, {}, {}};
  for (int d = 0; d < 3; ++d) {
    const std::int64_t s = f.stride(d);
    q.slope[d] = 0.5 * (at[s] - at[-s]);
    q.curvature[d][d] = at[s] - 2.0 * *at + at[-s];
    for (int e = d + 1; e < 3; ++e) {
      const std::int64_t t = f.stride(e);
      q.curvature[d][e] = q.curvature[e][d] = 0.25 * ((at[s + t] - at[s - t]) - (at[t - s] - at[-s - t]));
    }
  }
  return q;
}

/// The same polynomial elsewhere.
Taylor shifted(Taylor q, const Vec3& by) {
  const Vec3 bend{dot(q.curvature[0], by), dot(q.curvature[1], by), dot(q.curvature[2], by)};
  q.value += dot(by, q.slope + 0.5 * bend);
  q.slope += bend;
  return q;
}

double distance2(const Vec3& a, const Vec3& b) {
  const Vec3 r = a - b;
  return dot(r, r);
}

}  // namespace

Taylor quadratic_at(const CornerValues& f, const Vec3& x) {
  const Index c = nearest_corner(f.box.grown(-1), x);
  return shifted(quadratic_around(f, c), x - to_vec(c));
}

double bend(const Taylor& f) {
  double most = 0.0;
  for (const Vec3& row : f.curvature)
    for (int d = 0; d < 3; ++d) most = std::max(most, std::abs(row[d]));
  return most;
}

double upwind_slope(const CornerValues& p, const Index& corner, double speed) {
  const double* at = p.at(corner);
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t s = p.stride(d);
    const double low = at[0] - at[-s], high = at[s] - at[0];
    const double second = high - low;
    const double a = low + 0.5 * weighted(low - (at[-s] - at[-2 * s]), second);
    const double b = high - 0.5 * weighted((at[2 * s] - at[s]) - high, second);
    const double from_low = speed > 0.0 ? std::min(a, 0.0) : std::max(a, 0.0);
    const double from_high = speed > 0.0 ? std::max(b, 0.0) : std::min(b, 0.0);
    sum += std::max(from_low * from_low, from_high * from_high);
  }
  return std::sqrt(sum);
}

void evaluate_at_corners(const LocalLevelSet& phi, const Box& corners, int level, std::span<double> p) {
  const double h = std::ldexp(1.0, -level), scale = std::ldexp(1.0, level);
  std::vector<Vec3> row(corners.size(0));
  for (int k = corners.lo[2]; k < corners.hi[2]; ++k)
    for (int j = corners.lo[1]; j < corners.hi[1]; ++j) {
      for (int i = 0; i < corners.size(0); ++i) row[i] = h * to_vec({corners.lo[0] + i, j, k});
      const auto values = p.subspan(corners.offset({corners.lo[0], j, k}), row.size());
      phi.evaluate(row, values);
      for (double& value : values) value *= scale;
    }
}

WallBand::Near WallBand::what_is_near(const CornerValues& p, const Index& corner) {
  const double* at = p.at(corner);
  const double size = std::abs(*at);
  bool least = size < largest_hidden;
  for (int d = 0; d < 3; ++d)
    for (const std::int64_t s : {-p.stride(d), p.stride(d)}) {
      if ((at[s] > 0.0) != (*at > 0.0)) return Near::wall;
      least = least && std::abs(at[s]) >= size;
    }
  return least ? Near::hidden : Near::nothing;
}

void WallBand::find_sources(const CornerValues& p, const Box& around) {
  const std::size_t n = p.values.size();
  fluid_.resize(n);
  for (std::size_t i = 0; i < n; ++i) fluid_[i] = p.values[i] > 0.0;
  steps_.assign(n, far);
  source_.resize(n);
  projections_.clear();
  hidden_.clear();
  now_.clear();
  const int width_of_row = around.size(0);
  maybe_.resize(width_of_row);
  const std::int64_t row = p.stride(1), plane = p.stride(2);
  for (int k = around.lo[2]; k < around.hi[2]; ++k)
    for (int j = around.lo[1]; j < around.hi[1]; ++j) {
      const std::int64_t first = p.box.offset({around.lo[0], j, k});
      const std::uint8_t* f = fluid_.data() + first;
      const double* v = p.values.data() + first;
      for (int i = 0; i < width_of_row; ++i) {
        const int others = f[i - 1] + f[i + 1] + f[i - row] + f[i + row] + f[i - plane] + f[i + plane];
        maybe_[i] = static_cast<std::uint8_t>((others != 6 * f[i]) | (std::abs(v[i]) < largest_hidden));
      }
      for (int i = 0; i < width_of_row; ++i) {
        const Index c{around.lo[0] + i, j, k};
        const Near near = maybe_[i] == 0 ? Near::nothing : what_is_near(p, c);
        if (near == Near::nothing) continue;
        steps_[first + i] = 0;
        source_[first + i] = static_cast<std::int32_t>(projections_.size());
        projections_.push_back(projection(p, c));
        hidden_.push_back(near == Near::hidden);
        now_.push_back(static_cast<std::int32_t>(first + i));
      }
    }
}

/// Step by step, each corner with the nearest of the projections that its neighbours pass on.
void WallBand::spread(const CornerValues& p, const Box& own) {
  for (std::uint8_t steps = 1; steps <= width; ++steps) {
    const Box around = own.grown(width - steps);  // from where `own` is still reached
    next_.clear();
    for (const std::int32_t at : now_) {
      if (steps > inner && is_hidden(at)) continue;
      const Index c = p.box.cell(at);
      for (int side = 0; side < 6; ++side) {
        const Index to = c + side_offset(side);
        if (!around.contains(to)) continue;
        const auto there = static_cast<std::int32_t>(p.box.offset(to));
        if (steps_[there] == far) {
          steps_[there] = steps;
          source_[there] = source_[at];
          next_.push_back(there);
        } else if (steps_[there] == steps) {
          const Vec3 x = to_vec(to);
          if (distance2(projections_[source_[at]], x) < distance2(projections_[source_[there]], x))
            source_[there] = source_[at];
        }
      }
    }
    now_.swap(next_);
  }
}

WallBand::Foot WallBand::find_foot(const CornerValues& p, const Index& corner, std::uint8_t steps,
                                   const Vec3& begin) const {
  constexpr int most = 10;
  constexpr double enough = 1e-8, tolerable = 1e-2;  // squares of lengths
  constexpr double farther = 0.5;                    // than where the search begins
  const Vec3 x = to_vec(corner);
  Vec3 y = begin;
  double slope = 1.0, last = 1.0, bent = 0.0;
  const Box within = p.box.grown(-1);
  Index middle = nearest_corner(within, y);
  Taylor around = quadratic_around(p, middle);
  double bent_here = bend(around);
  for (int i = 0; i < most && last > enough; ++i) {
    const Index nearest = nearest_corner(within, y);
    if (nearest != middle) {
      middle = nearest;
      around = quadratic_around(p, middle);
      bent_here = bend(around);
    }
    const Taylor q = shifted(around, y - to_vec(middle));
    const double g2 = dot(q.slope, q.slope);
    if (g2 < flat) break;
    Vec3 step = step_to_foot(q, y - x);
    const double length = norm(step);
    if (length > 1.0) step *= 1.0 / length;
    y += step;
    slope = std::sqrt(g2);
    bent = bent_here;
    last = dot(step, step);
  }
  const double distance = norm(x - y), first = norm(x - begin);
  if (last < tolerable && distance < first + farther) return {corner, steps, true, false, y, distance, slope, bent};
  return {corner, steps, false, false, begin, first, slope, bent};
}

void WallBand::find(const Box& own, const CornerValues& p) {
  find_sources(p, own.grown(width));
  feet_.clear();
  if (now_.empty()) return;
  spread(p, own);
  for_each_cell(own, [&](const Index& c) {
    const std::int64_t at = p.box.offset(c);
    if (steps_[at] == far) return;
    const Vec3& begin = projections_[source_[at]];
    if (is_hidden(at))
      feet_.push_back({c, steps_[at], false, true, begin, norm(begin - to_vec(c)), 1.0, 0.0});
    else
      feet_.push_back(find_foot(p, c, steps_[at], begin));
  });
}

}  // namespace karst
