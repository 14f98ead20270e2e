// SPDX-License-Identifier: BSD-3-Clause
// What `karst check --ranks N` tells of a machine that is not there.
#pragma once

#include <string>

#include "app/estimate/machine_model.hpp"
#include "app/estimate/memory_estimate.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// The ranks that a grid is dealt out to.
struct GridPlan {
  RankPlan plan;
  int ranks = 0;
  double imbalance = 1.0;  ///< of the least even level
};
GridPlan plan_of(const GridHierarchy& grid);

/// Boxes, balance and messages of the ranks, as lines for the terminal.
/// @param counts  of the cells: bytes go by the fluid in a box, on average
std::string plan_text(const GridPlan& plan, const GridCounts& counts);
/// What the jobs take there, as a run in a folder took.
std::string seconds_text(const Machine& machine, const CountedRun& run, const std::string& folder, const GridPlan& plan,
                         const GridCounts& counts);

}  // namespace karst
