// SPDX-License-Identifier: BSD-3-Clause
// The permeability to a stated error (flow.error, decision 067): the flow is solved on a grid, its error estimated, the
// grid refined where the friction is, and the flow solved again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/flow/flow_job.hpp"
#include "app/job/job.hpp"

namespace karst {

/// @param run  solves on the ground of the context and ends with end_grid(); its result counts on the last grid
std::unique_ptr<Process> start_flow_to_error(const JobContext& context, JobResult (*run)(const JobContext&));

/// After the solves on a grid: of each column the estimated error, and which grid is next (RunServices::flow_rounds).
/// @param[in,out] columns  on the first grid with the errors from wider cells. Their friction is dropped
/// Collective.
void end_grid(const JobContext& context, FlowColumns& columns);

/// Lines for the terminal: the grids.
std::string grids_text(const JobContext& context);
/// Member `refinement` of summary.json.
Json grids_json(const JobContext& context);
/// A card with a table of the grids; empty without them.
std::string grids_card(const Json& summary);
/// That the error is not reached, and why.
std::vector<std::string> grids_warnings(const JobContext& context);

}  // namespace karst
