// SPDX-License-Identifier: BSD-3-Clause
// timers.txt and timers.json of a run, and --trace of `karst run`.
#pragma once

#include "app/deck/command_line.hpp"
#include "app/deck/config.hpp"
#include "app/job/run_folder.hpp"
#include "app/job/step_times.hpp"
#include "base/comm/comm.hpp"
#include "base/comm/trace.hpp"

namespace karst {

/// What all timers of the program took: for people, with the memory by purpose, and for programs, with the time of each
/// step. Collective.
void write_timers(const Comm& comm, const RunFolder& folder, const StepSeconds& steps);

/// The trace that the command line asks for; one that is not taken otherwise. Throws Error, the same on every rank, for
/// steps that are none, a run without steps, or a file that cannot be written. Collective.
Trace begin_trace(const Comm& comm, const CommandLine& line, const Config& config);

/// Writes it and tells where; nothing where none is taken. Collective.
void finish_trace(Trace& trace, const CommandLine& line);

}  // namespace karst
