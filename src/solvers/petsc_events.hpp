// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// From now on every timer of the calling thread is also a PETSc event of the same name (class "Karst"), so that
/// -log_view shows them beside PETSc's own. Timers of other threads are not: PETSc's log knows one thread.
/// Call between PetscInitialize and PetscFinalize, which ends it. Throws Error when PETSc does not run or refuses an
/// event. Not collective.
void log_timers_as_petsc_events();

}  // namespace karst
