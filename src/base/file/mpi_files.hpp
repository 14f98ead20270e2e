// SPDX-License-Identifier: BSD-3-Clause
// Files that all ranks write, through HDF5 and MPI-IO, where one rank alone cannot.
//
// HDF5 leaves a call at the first failure of MPI-IO on its own rank, while the other ranks wait for it inside the same
// call, for ever. The calls of MPI-IO that change a file are therefore taken over by MPI's profiling interface
// (MPI 4.0, section 15.2): they report success, keep the reason of the first failure, and HDF5 on all ranks goes on
// alike to a place where we ask. Opening fails on all ranks when it fails on one.
#pragma once

#include <string_view>

#include "base/comm/comm.hpp"

namespace karst {

/// Forgets failures of files that were given up; before a new file. Not collective.
void forget_failed_writes();

/// Throws Error on all ranks, with path and the first reason, if anything of a file could not be written on any rank
/// since the last call. To be asked before HDF5 may read what it wrote, and at the end. Collective.
void require_written(const Comm& comm, std::string_view path);

}  // namespace karst
