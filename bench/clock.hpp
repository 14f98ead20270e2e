// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ctime>

#include "base/comm/parallel.hpp"

namespace karst {

/// Processor time with one thread, which does not increase when other programs run, otherwise wall-clock time [s].
inline double now() {
  timespec t{};
  clock_gettime(n_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace karst
