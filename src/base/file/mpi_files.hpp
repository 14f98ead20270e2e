// SPDX-License-Identifier: BSD-3-Clause
// Errors of files that all ranks write through HDF5 and MPI-IO.
//
// HDF5 returns from a call at the first failure of MPI-IO on its rank, while the other ranks wait for it inside the
// same call forever. The MPI-IO calls that change a file are therefore intercepted by MPI's profiling interface (MPI
// 4.0, section 15.2): they report success and store the reason of the first failure, so that HDF5 continues equally on
// all ranks to a point where the result is checked. Opening fails on all ranks if it fails on one.
#pragma once

#include <string_view>

#include "base/comm/comm.hpp"

namespace karst {

/// Forgets failures of files that were given up; before a new file. Not collective.
void forget_failed_writes();

/// Throws Error on all ranks, with path and the first reason, if any part of a file could not be written on any rank
/// since the last call. To be called before HDF5 may read what it wrote, and at the end. Collective.
void require_written(const Comm& comm, std::string_view path);

}  // namespace karst
