// SPDX-License-Identifier: BSD-3-Clause
// --trace of `karst run`.
#pragma once

#include "app/deck/command_line.hpp"
#include "app/deck/config.hpp"
#include "base/comm/trace.hpp"

namespace karst {

/// The trace that the command line asks for; one that is not taken otherwise. Throws Error, the same on every rank, for
/// steps that are none, a run without steps, or a file that cannot be written. Collective.
Trace begin_trace(const Comm& comm, const CommandLine& line, const Config& config);

/// Writes it and tells where; nothing where none is taken. Collective.
void finish_trace(Trace& trace, const CommandLine& line);

}  // namespace karst
