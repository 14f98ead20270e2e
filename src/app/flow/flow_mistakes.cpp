// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with job `flow` on a geometry, and what its results cannot mean there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flow/flow_in_time.hpp"
#include "app/flow/flow_job.hpp"
#include "app/job/wider_cells.hpp"
#include "base/core/text.hpp"
#include "ins/upscale/extrapolation.hpp"

namespace karst {

namespace {

constexpr int least_cells = 4;             ///< along a flow through pores that change along it
constexpr double least_that_turns = 0.01;  ///< of the wall, that stands across a direction along which pores change

/// Part of the wall that stands across each direction. Collective.
Vec3 walls_across(const JobContext& context) {
  std::array<double, 4> sums{};
  for (const LevelGeometry& level : context.geometry().levels)
    for (const VofMoments& m : level.moments.span()) {
      for (std::size_t d = 0; d < 3; ++d) sums[d] += std::abs(m.wall.v[d]);
      sums[3] += m.wall_area;
    }
  context.comm.sum(std::span(sums));
  return sums[3] > 0.0 ? Vec3{sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]} : Vec3{};
}

/// "x is 2 cells long, y 3"
std::string lengths_of(const std::vector<int>& axes, const Index& cells) {
  std::string text;
  for (const int axis : axes)
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : ", ", axis_names[axis], text.empty() ? "is " : "", cells[axis]) +
        (text.empty() ? (cells[axis] == 1 ? " cell long" : " cells long") : "");
  return text;
}

}  // namespace

std::vector<int> short_axes(const JobContext& context) {
  const Index& cells = context.sample_grid().cells;
  const Vec3 across = walls_across(context);
  std::vector<int> found;
  // Between two ends that are faces of the same cell nothing is solved, not even for a straight duct.
  const auto is_one_cell = [&](int axis) { return cells[axis] == 1 && !context.sample_grid().periodic[axis]; };
  for (const int axis : context.config.flow.axes)
    if (is_one_cell(axis) || (cells[axis] > 1 && cells[axis] < least_cells && across[axis] > least_that_turns))
      found.push_back(axis);
  return found;
}

std::string too_short(const std::vector<int>& axes, const Index& cells) {
  return fmt::format(
      "the sample along {}: too few cells for pores that change along them, at least {} are needed: the permeability "
      "there means nothing; use more cells (grid.cells), or a larger sample{}",
      lengths_of(axes, cells), least_cells,
      std::ranges::any_of(axes, [&](int axis) { return cells[axis] == 1; })
          ? " (a straight duct may be one cell long if grid.periodic is true along it)"
          : "");
}

std::vector<std::string> flow_mistakes(const JobContext& context) {
  if (is_in_time(context.config)) return flow_in_time_mistakes(context);
  if (ends_drive(context.config)) return end_flow_mistakes(context);
  const FlowOptions& options = context.config.flow;
  Messages found = mistakes(options, context.geometry());
  const Index &cells = context.sample_grid().cells, &copies = context.config.geometry.copies;
  if (const std::vector<int> axes = short_axes(context); axes.size() == options.axes.size())
    found.push_back("flow.axes: " + too_short(axes, cells));
  if (options.estimate_given && wider_grids(cells, copies).empty() && !grid_between(cells, copies))
    found.push_back("flow.estimate_error: " + no_wider_grid(cells));
  if (options.error > 0.0 && (context.config.walls.asked() || context.config.grid.follows()))
    found.add("flow.error: given with {}, where the grid is another one during the run; remove one of them",
              context.config.walls.asked() ? "[[walls.mineral]]" : "[[grid.refine]] that follows the solution");
  if (options.uncertainty && !(context.wall_uncertainty > 0.0))
    found.add("flow.uncertainty: {}; remove it{}",
              context.config.geometry.image.empty()
                  ? "the walls of described solids are exact"
                  : "the plausible error of the wall is not known: the gray values of the image have no contrast from "
                    "which to estimate it, or an older version of Karst imported it (import it again)",
              context.config.geometry.image.empty()
                  ? ""
                  : ", and set geometry.wall_shift by hand: one run with e.g. -0.25 voxel widths, one with 0.25");
  return found;
}

}  // namespace karst
