// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "eb/cut/cut_box.hpp"
#include "eb/cut/cut_edge.hpp"

namespace karst {

namespace {

constexpr int samples_near_wall = 8;  // per cell and direction, where bounds of the sign leave it open

struct Survey {
  bool fluid = false, solid = false;
  double cut_cells = 0, fluid_cells = 0;  ///< estimates
  std::vector<Box> undecided;             ///< blocks in which the bound allows a wall
};

/// Halves a box until the Lipschitz bound decides, down to blocks of this width.
void survey_by_bound(const LatticePhi& phi, const Box& box, int width, Survey& survey) {
  const auto& [lo, hi] = box;
  const Index size = box.size();
  Vec3 center, half;
  for (int d = 0; d < 3; ++d) half[d] = 0.5 * size[d], center[d] = lo[d] + half[d];
  const double f = phi.at(center), reach = phi.lipschitz() * norm(half) + 2 * node_tolerance;
  if (std::abs(f) > reach) {
    (f > 0 ? survey.fluid : survey.solid) = true;
    if (f > 0) survey.fluid_cells += static_cast<double>(box.count());
    return;
  }
  for (int d = 2; d >= 0; --d) {
    if (size[d] <= width) continue;
    Index low_end = hi, high_begin = lo;
    low_end[d] = high_begin[d] = lo[d] + size[d] / 2;
    survey_by_bound(phi, {lo, low_end}, width, survey);
    survey_by_bound(phi, {high_begin, hi}, width, survey);
    return;
  }
  survey.undecided.push_back(box);
  // φ is close to a distance: blocks farther than half their diagonal hold no wall. A wall crosses 1.5 cells per area
  // h² (mean of |n|_1); over all distances the blocks then sum to that.
  const double distance = std::clamp(f / norm(half), -1.0, 1.0);
  const auto volume = static_cast<double>(box.count());
  survey.fluid_cells += volume * 0.5 * (1 + distance);
  survey.cut_cells += 1.5 * volume / norm(half) * (1 - std::abs(distance));
}

/// Halves a box until the bounds of the sign decide, down to blocks of this width.
void survey_by_signs(const LatticePhi& phi, const Box& box, int width, Survey& survey) {
  const auto& [lo, hi] = box;
  Vec3 low, high;
  for (int d = 0; d < 3; ++d) low[d] = lo[d], high[d] = hi[d];
  if (const SignBounds signs = phi.signs(low, high); signs.one_kind()) {
    (signs.may_be_fluid ? survey.fluid : survey.solid) = true;
    if (signs.may_be_fluid) survey.fluid_cells += static_cast<double>(box.count());
    return;
  }
  const Index size = box.size();
  for (int d = 2; d >= 0; --d) {
    if (size[d] <= width) continue;
    Index low_end = hi, high_begin = lo;
    low_end[d] = high_begin[d] = lo[d] + size[d] / 2;
    survey_by_signs(phi, {lo, low_end}, width, survey);
    survey_by_signs(phi, {high_begin, hi}, width, survey);
    return;
  }
  survey.undecided.push_back(box);
}

/// Samples at the corners of the cells, or closer when features may be smaller.
void survey_by_samples(const LatticePhi& phi, const Box& cells, int per_cell, Survey& survey) {
  const Index n = per_cell * cells.size();
  std::vector<Vec3> points(n[0] + 1);
  std::vector<double> row(points.size());
  const double line_area = cells.size(1) * cells.size(2) / ((n[1] + 1.0) * (n[2] + 1.0));  // [h²] of each line
  const double part = static_cast<double>(cells.count()) / ((n[0] + 1.0) * (n[1] + 1.0) * (n[2] + 1.0));
  for (int k = 0; k <= n[2]; ++k)
    for (int j = 0; j <= n[1]; ++j) {
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i] = {cells.lo[0] + static_cast<double>(i) / per_cell, cells.lo[1] + static_cast<double>(j) / per_cell,
                     cells.lo[2] + static_cast<double>(k) / per_cell};
      phi.at(points, row);
      for (std::size_t i = 0; i < row.size(); ++i) {
        (is_fluid(row[i]) ? survey.fluid : survey.solid) = true;
        survey.fluid_cells += is_fluid(row[i]) ? part : 0.0;
        // Crossings of the grid lines along x: a third of the 1.5 per h² of wall.
        if (i > 0 && is_fluid(row[i]) != is_fluid(row[i - 1])) survey.cut_cells += 3.0 * line_area;
      }
    }
}

/// Samples per cell and direction that miss no feature; 0 when the smoothness states no spacing.
int samples_per_cell(const LatticePhi& phi) {
  if (!phi.states_spacing() && phi.lipschitz() > 0) return 0;
  int per_cell = 1;
  while (per_cell < 1 << max_depth && !phi.excludes_wall(0, 0, 1.0 / per_cell)) per_cell *= 2;
  return per_cell;
}

/// Samples the corners of the cells that the bounds leave open; where they show one kind only, looks for the other one
/// cell by cell.
void survey_where_open(const LatticePhi& phi, const Box& cells, Survey& survey) {
  survey_by_signs(phi, cells, block_width, survey);
  const std::vector<Box> blocks = std::exchange(survey.undecided, {});
  for (const Box& block : blocks) survey_by_samples(phi, block, 1, survey);
  for (const Box& block : blocks) {
    if (survey.fluid && survey.solid) return;
    Survey closer;
    survey_by_signs(phi, block, 1, closer);
    for (const Box& cell : closer.undecided) survey_by_samples(phi, cell, samples_near_wall, closer);
    survey.fluid = survey.fluid || closer.fluid;
    survey.solid = survey.solid || closer.solid;
  }
}

/// Settles whether the box holds fluid and solid by a closer look at the undecided blocks, as long as it is open.
void settle(const LatticePhi& phi, Survey& survey) {
  const int per_cell = samples_per_cell(phi);
  for (const Box& block : std::exchange(survey.undecided, {})) {
    if (survey.fluid && survey.solid) return;
    if (phi.has_tight_signs()) {
      const SignBounds signs = phi.signs(to_vec(block.lo), to_vec(block.hi));
      survey.fluid = survey.fluid || !signs.may_be_solid;
      survey.solid = survey.solid || !signs.may_be_fluid;
      if (signs.one_kind()) continue;
    }
    if (const PhiRange range = phi.range(to_vec(block.lo), to_vec(block.hi));
        is_fluid(range.least) || !is_fluid(range.most)) {
      (is_fluid(range.least) ? survey.fluid : survey.solid) = true;
      continue;
    }
    Survey closer;
    if (per_cell > 0)
      survey_by_samples(phi, block, per_cell, closer);
    else
      survey_by_bound(phi, block, 1, closer);
    const bool open = !closer.undecided.empty();  // single cells near the wall: taken as cut
    survey.fluid = survey.fluid || closer.fluid || open;
    survey.solid = survey.solid || closer.solid || open;
  }
}

}  // namespace

BoxContent classify(const LocalLevelSet& phi, const Smoothness& smoothness, const Box& cells, int level) {
  const LatticePhi lattice_phi(phi, phi.smoothness_here(smoothness), level);
  Survey survey;
  if (lattice_phi.lipschitz() > 0) {
    survey_by_bound(lattice_phi, cells, block_width, survey);
    settle(lattice_phi, survey);
  } else if (lattice_phi.bounds_signs()) {
    survey_where_open(lattice_phi, cells, survey);
  } else {
    survey_by_samples(lattice_phi, cells, samples_per_cell(lattice_phi), survey);
  }
  if (!survey.fluid) return {BoxContent::Kind::no_fluid, 0, 0};
  if (!survey.solid) return {BoxContent::Kind::all_fluid, 0, static_cast<double>(cells.count())};
  return {BoxContent::Kind::mixed, survey.cut_cells, survey.fluid_cells};
}

}  // namespace karst
