// SPDX-License-Identifier: BSD-3-Clause
// The frame of every program: MPI, and one clear message and a non-zero status for every failure.
#pragma once

#include <functional>

#include "base/comm/comm.hpp"

namespace karst {

/// Thrown to end a program with this exit status and no message (the program has already reported). Every rank throws
/// it.
struct ExitStatus {
  int code;
};

/// Starts MPI (funneled threads) and OpenBLAS on one thread (unless OPENBLAS_NUM_THREADS is set), runs body on every
/// rank, ends MPI. Collective.
/// Every exception becomes a message on stderr and the exit status 1:
/// - the same on all ranks: rank 0 prints it once;
/// - on some ranks, while the others complete body: one message per kind, with its ranks;
/// - on some ranks, the others do not come within about 2 seconds (they wait for a message of the failed ones): the
///   failed ranks print theirs and abort the job. No rank is left hanging.
/// Standard output that cannot be written (a full disk) is such an error, too, found at the end. Destructors that run
/// during the propagation of an Error must not communicate: they would wait for ranks that continue.
/// @returns the exit status of the program: 0, 1 after an error, or that of ExitStatus (the largest of the ranks)
int run_guarded(int argc, char** argv, const std::function<void(const Comm&)>& body);

}  // namespace karst
