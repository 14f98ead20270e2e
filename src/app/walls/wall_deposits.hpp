// SPDX-License-Identifier: BSD-3-Clause
// Deposits of [chemistry] on walls that have moved (decision 065).
#pragma once

#include <vector>

#include "app/job/moving_walls.hpp"
#include "fields/state.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Shares what lies on the walls of the ground before among the pieces of that of the run, and adds it to the state of
/// transport there; what no wall takes counts as buried. Collective.
/// @param from      volumes of the ground before
/// @param to        and of that of now
/// @param was       state of transport on the ground before
/// @param[out] now  its state on that of the run, as state_on_other_walls() makes it
/// @return of each deposit, in the order of the deck, its amounts on the pieces now [mol/kgw h0³]; empty without any
std::vector<WallRows> move_deposits(const JobContext& run, const Ground& before, const ScalarGrid& from,
                                    const ScalarGrid& to, const State& was, State& now);

}  // namespace karst
