// SPDX-License-Identifier: BSD-3-Clause
// timers.txt and timers.json of a run.
#pragma once

#include "app/run_folder.hpp"
#include "app/step_times.hpp"
#include "base/comm.hpp"

namespace karst {

/// What all timers of the program took: for people, with the memory by purpose, and for programs, with the time of each
/// step. Collective.
void write_timers(const Comm& comm, const RunFolder& folder, const StepSeconds& steps);

}  // namespace karst
