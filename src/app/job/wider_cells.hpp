// SPDX-License-Identifier: BSD-3-Clause
// The error of discretisation of what a job computes along axes: the same sample is solved again on wider cells
// (ins/upscale/extrapolation.hpp, decision 016).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "ins/upscale/extrapolation.hpp"

namespace karst {

/// Cells that fill the sample, and how many times as wide they are.
struct WiderCells {
  Index cells;
  double width = 1.0;
  std::string where;  ///< ", cells 2 times as wide": added to the names of solves
};

/// The values with these numbers, as far as their axes percolate there and their solves ended. Collective.
using SolveOnWiderCells = std::function<std::vector<NumberedValue>(const std::vector<int>& numbers, const WiderCells&)>;

/// One estimate for each value, in their order; nothing where no wider cells fill the sample. Grids about twice and
/// three times as wide, and where these disagree one in between. Collective.
/// @param values  on the grid of the run
std::optional<std::vector<Extrapolated>> estimate_on_wider_cells(const JobContext& run,
                                                                 const std::vector<NumberedValue>& values,
                                                                 const SolveOnWiderCells& solve);

/// "extrapolation", "one change" ..., what the error was made from; "-" where there is none.
std::string basis_text(ErrorBasis basis);
/// Why there is no estimate, and what to do.
std::string no_wider_grid(const Index& cells);

}  // namespace karst
