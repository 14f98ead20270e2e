// SPDX-License-Identifier: BSD-3-Clause
// Steady jobs of the deck that are done again for each position of walls that move.
#pragma once

#include <span>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/job/job.hpp"

namespace karst {

/// Does those that the deck asks for, one after the other, on the ground of now: without files, estimates of errors and
/// progress of their own. Throws Error. Collective.
/// @param[out] exchanges  gets what they give: flow, wall rates
std::vector<JobResult> steady_results(const JobContext& run, std::span<const Job> jobs, Exchanges& exchanges);

}  // namespace karst
