// SPDX-License-Identifier: BSD-3-Clause
// Ranks that wait sleep: in the unit tests, and by LD_PRELOAD in runs of the program on several ranks.
#include <sched.h>
#include <time.h>

/// Open MPI calls this where a rank waits (mpi_yield_when_idle). On fewer processors than ranks those that wait then
/// hand the processor to one another for most of the time; asleep they leave it to those that work: half the processor
/// time, and on a busy machine a third of the time.
extern "C" int sched_yield() noexcept {
  constexpr timespec moment{0, 20000};
  nanosleep(&moment, nullptr);
  return 0;
}
