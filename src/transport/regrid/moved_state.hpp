// SPDX-License-Identifier: BSD-3-Clause
// A state on another ground, item by item: for values_on_other_grid.cpp and values_on_other_walls.cpp.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fields/state.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Values of one component of an item: one per own volume of the old grid, to one per own volume of the new one. What
/// is stored times the width of a level comes without it.
using MoveValues =
    std::function<std::vector<double>(const StateItem& item, int component, std::span<const double> was)>;

/// Fluxes, memory and what lies on walls are dropped, and State::other_grid is set. Throws the same Error on all ranks
/// where what stands in some volumes alone is to be kept. Collective.
State moved_state(const ScalarGrid& from, const ScalarGrid& to, const State& state, const MoveValues& move);

/// Σ value x volume on all ranks. Collective.
double content_of(const ScalarGrid& grid, std::span<const double> values);

}  // namespace karst
