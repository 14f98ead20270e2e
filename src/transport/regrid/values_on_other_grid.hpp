// SPDX-License-Identifier: BSD-3-Clause
// Quantities of volumes on another grid with the same walls (grid_change.hpp). Each is local: nothing that is missing
// in one cell is made up for in another.
//
//   content, point value   a mean c of the source, and from a coarser one c + s (g·(x - x̄)): g the least-squares
//                          gradient, x̄ the mean centroid of the volumes with this source, s <= 1 so that they stay
//                          within the values of the source and its neighbours (Barth & Jespersen, AIAA 89-0366 (1989)).
//                          Means of sources, bounds and constants are kept. Where a cell is cut at another level it has
//                          more or less fluid, which has the mean of its source.
//   amount                 value x volume of all, shared by volume: Σ is kept to round-off
//
// A content is kept where all cells keep their fluid, as they do away from walls; elsewhere it changes by that of the
// fluid that a cell is said to have more or less. To keep it there, values would have to leave their bounds, and a
// constant would not stay one.
#pragma once

#include "fields/state.hpp"
#include "transport/regrid/source_marks.hpp"

namespace karst {

/// Collective.
/// @param values  one per own volume of the old grid
/// @param wanted  sources; others are not read, and their volumes get 0. nullptr: all are wanted
/// @return one per own volume of the new one
std::vector<double> values_on_other_grid(GridChange& change, std::span<const double> values,
                                         const SourceMarks* wanted = nullptr);
std::vector<double> amounts_on_other_grid(GridChange& change, std::span<const double> values);

/// What became of an item, summed over all volumes [unit h0³].
struct ItemChange {
  std::string name;
  double before = 0.0, after = 0.0;  ///< of its first component
};

/// The state on the new grid, as its kinds say. Items that are dropped are not in it, and State::other_grid says so.
/// Throws the same Error on all ranks where what stands in some volumes alone is to be kept. Collective.
State state_on_other_grid(GridChange& change, const State& state, std::vector<ItemChange>& changes);

}  // namespace karst
