// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/petsc_events.hpp"

#include <petsclog.h>
#include <petscsys.h>

#include "base/error.hpp"
#include "base/timer.hpp"

namespace karst {

namespace {

PetscClassId timer_class() {
  static PetscClassId id = 0;  // PETSc keeps a class for the life of the process
  if (id == 0) require(PetscClassIdRegister("Karst", &id) == 0, "PETSc did not register the class of the timers");
  return id;
}

int register_event(const char* name) {
  PetscLogEvent event = 0;
  require(PetscLogEventRegister(name, timer_class(), &event) == 0, "PETSc did not register the timer {} as event",
          name);
  return event;
}

// PETSc's log returns an error only for wrong ids and nesting, both excluded here; a profile is no reason to end a run.
void begin_event(int event) { static_cast<void>(PetscLogEventBegin(event, 0, 0, 0, 0)); }
void end_event(int event) { static_cast<void>(PetscLogEventEnd(event, 0, 0, 0, 0)); }

PetscErrorCode stop_logging() {
  set_timer_sink({});
  return 0;
}

}  // namespace

void log_timers_as_petsc_events() {
  PetscBool begun = PETSC_FALSE, ended = PETSC_FALSE;
  PetscInitialized(&begun);
  PetscFinalized(&ended);
  require(begun && !ended, "timers as PETSc events: PETSc does not run; call this between its start and end");
  set_timer_sink({register_event, begin_event, end_event});
  require(PetscRegisterFinalize(stop_logging) == 0, "timers as PETSc events: PETSc did not take the end of the log");
}

}  // namespace karst
