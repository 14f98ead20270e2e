// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_band.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

namespace {

constexpr double largest_hidden = 1.5;  // |p| at a corner that hides a wall between corners

/// Second difference for a one-sided first one, of third order where both are alike.
/// @param upwind, central  of p, around the corner upwind and around this one
double weighted(double upwind, double central) {
  constexpr double small = 1e-6;
  const double ratio = (small + upwind * upwind) / (small + central * central);
  return central + (upwind - central) / (1.0 + 2.0 * ratio * ratio);
}

/// Along the gradient to the wall, at most by one.
Vec3 projection(const CornerValues& p, const Index& corner) {
  const double* at = p.at(corner);
  Vec3 g;
  for (int d = 0; d < 3; ++d) g[d] = 0.5 * (at[p.stride(d)] - at[-p.stride(d)]);
  const double g2 = dot(g, g);
  if (g2 < flat_p) return to_vec(corner);
  const double length = std::abs(*at) / std::sqrt(g2);
  return to_vec(corner) - *at / (g2 * std::max(1.0, length)) * g;
}

double distance2(const Vec3& a, const Vec3& b) {
  const Vec3 r = a - b;
  return dot(r, r);
}

}  // namespace

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
        now_.push_back({c, static_cast<std::int32_t>(first + i)});
      }
    }
}

/// Step by step, each corner with the nearest of the projections that its neighbours pass on.
void WallBand::spread(const CornerValues& p, const Box& own) {
  std::array<std::int32_t, 6> step_to;
  for (int side = 0; side < 6; ++side)
    step_to[side] = static_cast<std::int32_t>((is_high(side) ? 1 : -1) * p.stride(direction_of(side)));
  for (std::uint8_t steps = 1; steps <= width; ++steps) {
    const Box around = own.grown(width - steps), within = around.grown(-1);  // from where `own` is still reached
    next_.clear();
    for (const auto& [corner, at] : now_) {
      if (steps > inner && is_hidden(at)) continue;
      const bool all_sides = within.contains(corner);
      const std::int32_t source = source_[at];
      for (int side = 0; side < 6; ++side) {
        const std::int32_t there = at + step_to[side];
        const bool first = steps_[there] == far;
        if (!first && (steps_[there] != steps || source_[there] == source)) continue;
        const Index to = corner + side_offset(side);
        if (!all_sides && !around.contains(to)) continue;
        if (first) {
          steps_[there] = steps;
          source_[there] = source;
          next_.push_back({to, there});
        } else if (const Vec3 x = to_vec(to);
                   distance2(projections_[source], x) < distance2(projections_[source_[there]], x)) {
          source_[there] = source;
        }
      }
    }
    now_.swap(next_);
  }
}

void WallBand::find(const Box& own, const CornerValues& p) {
  find_sources(p, own.grown(width));
  feet_.clear();
  if (now_.empty()) return;
  spread(p, own);
  for_each_cell(own, [&](const Index& c) {
    const std::int64_t at = p.box.offset(c);
    if (steps_[at] == far) return;
    feet_.push_back(foot_to_be_found(c, steps_[at], is_hidden(at), projections_[source_[at]]));
  });
  find_feet(p, feet_);
}

}  // namespace karst
