// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/petsc_events.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include "base/timer.hpp"

namespace karst {
namespace {

/// Calls of a PETSc event in the main stage; -1 when there is no event of this name.
int calls_of(const char* name) {
  PetscLogEvent event = -1;
  PetscLogEventGetId(name, &event);
  if (event < 0) return -1;
  PetscEventPerfInfo info{};
  PetscLogEventGetPerfInfo(0, event, &info);
  return info.count;
}

// Timers of Karst appear among PETSc's events once that is asked for, each start counted once.
TEST(PetscEvents, TimersAreCountedMpi) {
  PetscInitializeNoArguments();
  PetscLogDefaultBegin();
  { const Timer before("before the events"); }
  log_timers_as_petsc_events();
  for (int i = 0; i < 3; ++i) const Timer timer("timed by PETSc too");
  EXPECT_EQ(calls_of("timed by PETSc too"), 3);
  EXPECT_EQ(calls_of("before the events"), -1);
  PetscFinalize();
  { const Timer after("timed by PETSc too"); }  // PETSc is gone: must not be called
}

}  // namespace
}  // namespace karst
