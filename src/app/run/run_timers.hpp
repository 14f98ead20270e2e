// SPDX-License-Identifier: BSD-3-Clause
// timers.txt and timers.json of a run.
#pragma once

#include "app/job/run_folder.hpp"
#include "app/job/step_times.hpp"
#include "base/comm/comm.hpp"

namespace karst {

/// What all timers of the program took: for people, with the memory by purpose, and for programs, with the time of each
/// step. Collective.
void write_timers(const Comm& comm, const RunFolder& folder, const StepSeconds& steps);

}  // namespace karst
