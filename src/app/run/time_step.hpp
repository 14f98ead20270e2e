// SPDX-License-Identifier: BSD-3-Clause
// A step of jobs that go through time together (decision 056).
#pragma once

#include "app/deck/clock.hpp"
#include "app/run/checkpoint.hpp"

namespace karst {

/// All try the next step of the clock, as long as all of them allow; where one fails all go back, and try half of it,
/// three times at most. The step that all have made, clock.dt() long, is accepted, and remains to be recorded. Throws
/// CannotGoOn, with all as before the step: the shortest one failed, too. Collective.
void make_step(const Together& jobs, Clock& clock);

}  // namespace karst
