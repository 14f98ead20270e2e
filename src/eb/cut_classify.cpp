// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "eb/cut_box.hpp"
#include "eb/cut_edge.hpp"

namespace karst {

namespace {

constexpr int block_width = 4;

struct Survey {
  bool fluid = false, solid = false;
  double cut_cells = 0;
};

/// Halves [lo, hi) until the Lipschitz bound decides, down to blocks of 4^3.
void survey_by_bound(const LatticePhi& phi, const Index& lo, const Index& hi, Survey& survey) {
  const Index size = hi - lo;
  Vec3 center, half;
  for (int d = 0; d < 3; ++d) half[d] = 0.5 * size[d], center[d] = lo[d] + half[d];
  const double f = phi.at(center), reach = phi.lipschitz() * norm(half) + 2 * node_tolerance;
  if (std::abs(f) > reach) {
    (f > 0 ? survey.fluid : survey.solid) = true;
    return;
  }
  for (int d = 2; d >= 0; --d) {
    if (size[d] <= block_width) continue;
    Index low_end = hi, high_begin = lo;
    low_end[d] = high_begin[d] = lo[d] + size[d] / 2;
    survey_by_bound(phi, lo, low_end, survey);
    survey_by_bound(phi, high_begin, hi, survey);
    return;
  }
  survey.fluid = survey.solid = true;
  // A wall crosses 1.5 cells per area h² (mean of |n|_1); over all distances |f| < reach the blocks then sum to that.
  const double volume = static_cast<double>(size[0]) * size[1] * size[2];
  survey.cut_cells += 1.5 * volume / norm(half) * (1 - std::abs(f) / reach);
}

/// Samples at the corners of the cells, or closer when features may be smaller.
void survey_by_samples(const LatticePhi& phi, const Box& cells, int per_cell, Survey& survey) {
  const Index n = per_cell * cells.size();
  std::vector<Vec3> points(static_cast<std::size_t>(n[0]) + 1);
  std::vector<double> row(points.size());
  for (int k = 0; k <= n[2]; ++k)
    for (int j = 0; j <= n[1]; ++j) {
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i] = {cells.lo[0] + static_cast<double>(i) / per_cell, cells.lo[1] + static_cast<double>(j) / per_cell,
                     cells.lo[2] + static_cast<double>(k) / per_cell};
      phi.at(points, row);
      for (std::size_t i = 0; i < row.size(); ++i) {
        (is_fluid(row[i]) ? survey.fluid : survey.solid) = true;
        // Crossings of the grid lines along x, a third of the 1.5 per h² of wall.
        if (i > 0 && is_fluid(row[i]) != is_fluid(row[i - 1])) survey.cut_cells += 3.0 / (per_cell * per_cell);
      }
    }
}

}  // namespace

BoxContent classify(const LocalLevelSet& phi, const Smoothness& smoothness, const Box& cells, int level) {
  const LatticePhi lattice_phi(phi, smoothness, level);
  Survey survey;
  if (lattice_phi.lipschitz() > 0) {
    survey_by_bound(lattice_phi, cells.lo, cells.hi, survey);
  } else {
    int per_cell = 1;
    while (per_cell < 1 << max_depth && !lattice_phi.excludes_wall(0, 0, 1.0 / per_cell)) per_cell *= 2;
    survey_by_samples(lattice_phi, cells, per_cell, survey);
  }
  if (!survey.fluid) return {BoxContent::Kind::no_fluid, 0};
  if (!survey.solid) return {BoxContent::Kind::all_fluid, 0};
  return {BoxContent::Kind::mixed, survey.cut_cells};
}

}  // namespace karst
