// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/indicator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/comm/parallel.hpp"

namespace karst {

Indicator indicator_of(const Refinement& rule, std::vector<double> value) {
  return {std::move(value), rule.threshold(), rule.kept(), rule.where == Refinement::Where::gradient};
}

Indicator concentration_indicator(const ScalarGrid& grid, const Refinement& rule, std::span<const double> values,
                                  std::span<const double> at_ends) {
  std::vector<std::int8_t> level(grid.n_own);
  for (std::size_t l = 0; l + 1 < grid.level_begin.size(); ++l)
    std::fill(level.begin() + grid.level_begin[l], level.begin() + grid.level_begin[l + 1],
              static_cast<std::int8_t>(l));
  std::vector<double> found(grid.n_own, 0.0);
  const bool front = rule.where == Refinement::Where::front;
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    const double here = values[v], width = ScalarGrid::width(level[v]);
    double most = 0.0;
    faces([&](std::int32_t, std::int32_t other, double) {
      const double there = other < grid.n_all ? values[other] : at_ends[other - grid.n_all];
      if (front)
        most = std::max(most, std::max(here, there) > rule.low && std::min(here, there) < rule.high ? 1.0 : 0.0);
      else if (const double c = std::abs(there - here) / width; c > most)  // not where there is none
        most = c;
    });
    found[v] = most;
  });
  return indicator_of(rule, std::move(found));
}

std::vector<double> speeds(const Velocities& u) {
  std::vector<double> all(u[0].size());
  parallel_for(std::ssize(all), [&](std::int64_t v) { all[v] = norm(Vec3{u[0][v], u[1][v], u[2][v]}); });
  return all;
}

std::vector<double> vorticities(ScalarGrid& grid, const Velocities& u, double cell_width) {
  const std::span<const Vec3> weights = find_gradient_weights(grid, {});
  std::array<std::array<std::vector<double>, 3>, 3> slope;  // [component][direction]
  std::vector<double> values(grid.n_values, 0.0);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::vector<double>& s : slope[c]) s.resize(grid.n_all);
    std::ranges::copy(u[c], values.begin());
    fetch_remote(grid, std::span(values));
    find_gradient(grid, weights, values, Gradient{slope[c][0], slope[c][1], slope[c][2]});
  }
  std::vector<double> all(grid.n_own);
  parallel_for(grid.n_own, [&](std::int64_t v) {
    const auto s = [&](std::size_t c, std::size_t d) { return slope[c][d][v]; };
    all[v] = norm(Vec3{s(2, 1) - s(1, 2), s(0, 2) - s(2, 0), s(1, 0) - s(0, 1)}) / cell_width;
  });
  return all;
}

void divide_by_mean(const Comm& comm, const ScalarGrid& grid, std::vector<double>& values) {
  std::array<double, 2> sums{parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * values[v]; }),
                             parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v]; })};
  comm.sum(std::span(sums));
  const double mean = sums[0] / sums[1];
  for (double& value : values) value = mean > 0.0 ? value / mean : 0.0;
}

}  // namespace karst
