// SPDX-License-Identifier: BSD-3-Clause
// Moving pictures of walls that move (walls.animation): the fluid in the plane through the middle, with what of it was
// solid at the beginning, and, where transport is steady in each position of the walls, the concentrations there.
#pragma once

#include <vector>

#include "app/output/recorder.hpp"

namespace karst {

/// The last step of the recorder, if it is one of those that are kept. Collective.
/// @param of_jobs  fields of steady states on the ground of now
/// @param last     kept in any case
void add_wall_frame(const JobContext& run, const std::vector<JobComponent>& of_jobs, bool last, Recorder& recorder);

/// Files and figures. Collective.
void leave_wall_animations(const JobContext& run, const Recorder& recorder, JobResult& result);

/// Their cards on the page.
std::string wall_animation_card(const Json& summary, const Figures& figures);

}  // namespace karst
