// SPDX-License-Identifier: BSD-3-Clause
// The folder a run writes its results to. Results of different runs are never mixed and never lost unasked.
#pragma once

#include <string>
#include <vector>

#include "base/comm.hpp"

namespace karst {

/// Names of files that Karst writes into a run directory and may therefore replace: fixed names, or NAME*.EXT with any
/// text for the star (plot files with a step number).
bool is_own_file(const std::string& name);

/// Makes the folder (and those above it) for the results of a run.
///
/// A folder that exists must be empty, or hold nothing that Karst would write (a deck, notes and scripts of the user
/// may stay). With overwrite, the results of the earlier run in it are removed first, and only those; folders
/// and files of other names are left alone. Returns the names of the files removed, for the log.
/// Throws the same Error on all ranks; rank 0 acts. Collective.
std::vector<std::string> prepare_run_directory(const Comm& comm, const std::string& path, bool overwrite);

}  // namespace karst
