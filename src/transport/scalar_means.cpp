// SPDX-License-Identifier: BSD-3-Clause
#include "transport/scalar_means.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/math/no_number.hpp"

namespace karst {

std::vector<double> layer_means(const ScalarGrid& grid, std::span<const double> values, int axis, int n) {
  std::vector<double> sums(2 * n, 0.0);
  for (std::int32_t v = 0; v < grid.n_own; ++v) {
    const int layer = std::clamp(static_cast<int>(std::floor(grid.centroid[v][axis])), 0, n - 1);
    sums[2 * layer] += grid.volume[v] * values[v];
    sums[2 * layer + 1] += grid.volume[v];
  }
  grid.composite->comm().sum(std::span(sums));
  std::vector<double> means;
  for (std::size_t i = 0; i < sums.size(); i += 2)
    means.push_back(sums[i + 1] > 0.0 ? sums[i] / sums[i + 1] : no_number);
  return means;
}

std::vector<FlowThroughEnd> end_flows(const ScalarGrid& grid, std::span<const double> flow) {
  std::vector<FlowThroughEnd> all;
  for (const BoundaryFace& f : grid.boundary) all.push_back({f.volume, f.side, flow[f.face]});
  return all;
}

double outflow_mean(const Comm& comm, std::span<const FlowThroughEnd> flows, std::span<const double> values, int side) {
  std::array<double, 2> sums{};
  for (const FlowThroughEnd& f : flows)
    if (f.side == side && f.flow > 0.0) {
      sums[0] += f.flow * values[f.volume];
      sums[1] += f.flow;
    }
  comm.sum(std::span(sums));
  return sums[1] > 0.0 ? sums[0] / sums[1] : no_number;
}

}  // namespace karst
