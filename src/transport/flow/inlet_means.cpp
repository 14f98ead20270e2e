// SPDX-License-Identifier: BSD-3-Clause
#include "transport/flow/inlet_means.hpp"

#include <algorithm>

namespace karst {

template <int C>
void lag_inflow(const ScalarGrid& grid, const InflowStep& step, std::span<double> mean) {
  for (const BoundaryFace& end : grid.boundary) {
    const double out = step.flow[end.face];
    if (!(out < 0.0)) continue;
    const std::int64_t own = C * std::int64_t{end.volume};
    const Vec3 upstream = -0.5 * step.dt * out / grid.volume[end.volume] * (end.at - grid.centroid[end.volume]);
    const auto special = std::ranges::lower_bound(grid.special, end.volume) - grid.special.begin();
    for (std::int64_t k = grid.special_begin[special]; k < grid.special_begin[special + 1]; ++k) {
      const double weight = dot(step.weights[k], upstream);
      if (weight == 0.0) continue;  // the value there may mean nothing
      const std::int64_t other = C * std::int64_t{grid.volume_faces[k].other()};
      for (int c = 0; c < C; ++c) mean[own + c] += weight * (step.before[other + c] - step.before[own + c]);
    }
  }
}

template void lag_inflow<1>(const ScalarGrid&, const InflowStep&, std::span<double>);
template void lag_inflow<2>(const ScalarGrid&, const InflowStep&, std::span<double>);
template void lag_inflow<3>(const ScalarGrid&, const InflowStep&, std::span<double>);
template void lag_inflow<4>(const ScalarGrid&, const InflowStep&, std::span<double>);

}  // namespace karst
