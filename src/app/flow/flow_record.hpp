// SPDX-License-Identifier: BSD-3-Clause
// The results of a direction of the drive as JSON and back, every number to the last bit: for finished solves on disk.
#pragma once

#include "app/job/solve_store.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// Without fields. Times are those of the slowest rank. Collective.
SolveRecord record_of(const Comm& comm, const FlowColumn& column);
/// Throws Error when it is no such record. Not collective.
FlowColumn flow_column(const Json& state);

/// The same of a sweep on its way.
SolveRecord record_of(const Comm& comm, const PausedSweep& sweep);
PausedSweep paused_sweep(const Json& state);

}  // namespace karst
