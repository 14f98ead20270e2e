// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/wider_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace karst {

namespace {

/// b of a grid, see ins/upscale/extrapolation.hpp.
/// @param voxel  0: described solids
double line_offset_of(const GridOptions& grid, double voxel) {
  if (voxel == 0.0) return 0.0;
  const double h = cell_width_at_walls(grid), length = std::max({grid.size[0], grid.size[1], grid.size[2]});
  return line_offset(h / voxel, static_cast<int>(std::lround(length / h)));
}

}  // namespace

std::optional<std::vector<Extrapolated>> estimate_on_wider_cells(const JobContext& run,
                                                                 const std::vector<NumberedValue>& values,
                                                                 const SolveOnWiderCells& solve) {
  GridOptions grid = run.sample_grid();
  const Index cells = grid.cells, &copies = run.config.geometry.copies;
  const double h = grid.cell_width();
  const std::vector<Index> wide = wider_grids(cells, copies);
  const auto between = grid_between(cells, copies);
  if (wide.empty() && !between) return {};
  const Source any = run.again({cells});
  const double voxel = any.image ? any.image->info().voxel : 0.0, offset = line_offset_of(grid, voxel);
  std::vector<int> numbers;
  for (const NumberedValue& v : values) numbers.push_back(v.number);
  const auto on = [&](const Index& wider_cells) {
    grid.cells = wider_cells;
    const double width = grid.cell_width() / h;
    return WiderGrid{width, line_offset_of(grid, voxel),
                     solve(numbers, {wider_cells, width, fmt::format(", cells {:.3g} times as wide", width)})};
  };
  std::vector<WiderGrid> grids;
  for (const Index& c : wide) {
    if (numbers.empty() || (!grids.empty() && grids.back().values.empty())) break;
    grids.push_back(on(c));
  }
  const auto estimates = [&](const WiderGrid& other) {
    std::vector<Extrapolated> all;
    for (const NumberedValue& v : values) all.push_back(extrapolate_value(v, offset, grids, other));
    return all;
  };
  std::vector<Extrapolated> found = estimates({});
  // One more grid where these disagree, or where nothing came out on them.
  numbers.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!found[i].limit) numbers.push_back(values[i].number);
  if (between && !numbers.empty()) found = estimates(on(*between));
  return found;
}

std::string basis_text(ErrorBasis basis) {
  switch (basis) {
    case ErrorBasis::one_change:
      return "one change";
    case ErrorBasis::larger_change:
      return "larger change";
    case ErrorBasis::limit:
      return "extrapolation";
    case ErrorBasis::refinement:
      return "refinement";
    case ErrorBasis::none:
      break;
  }
  return "-";
}

std::string no_wider_grid(const Index& cells) {
  return fmt::format(
      "no cells 1.2 to 2.4 times as wide fill {} x {} x {} of these: crop the image or choose grid.cells so that all "
      "three numbers are even, at least 8",
      cells[0], cells[1], cells[2]);
}

}  // namespace karst
