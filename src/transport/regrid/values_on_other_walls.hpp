// SPDX-License-Identifier: BSD-3-Clause
// Quantities of volumes where walls have moved (wall_change.hpp; docs/decisions/061-contents-where-walls-move.md).
// c is the mean of an old volume, V its volume, ' of the new ones.
//
//   content      c' = Σ taken c / Σ taken over the pieces of fluid in a new volume. Where a wall recedes, what opens
//                is water of the piece it is beside; in a cell without one, of the volume that it joins; a volume
//                without any has the mean of its neighbours, weighted by conductance. Where water at the wall is
//                known, it is that of all these. What closes takes its own water along. An old volume whose fluid goes
//                to several gives them c + s g·(x - x̄) in place of c: g its gradient, x centroids of the parts, x̄
//                their mean, s <= 1 so that all are between the values of its neighbours and the wall (decision 089).
//                So bounds and constants are kept, and c + 1000 is the same problem.
//
//                  Σ c' V' = Σ c V + opened - closed + entered - cut off     to round-off
//
//                opened  Σ of the volumes that open x the concentration of their water
//                closed  Σ of the volumes that close x theirs
//                entered what was in pores that had been removed, with a concentration that the caller gives
//                cut off what is in pores that are removed now
//
//   amount       lies on what it lies on: stays in the cells of its volume, goes to what is left of it, and where
//   nothing
//                is left to its neighbours across faces, weighted by conductance. Σ x' V' = Σ x V + entered - cut off.
//                Here cut off includes what is in fluid that closes with no neighbour left.
//   point value  of the old volume with most of the fluid; where none was, the mean of neighbours as above
//
// There and back: a volume that only opened and closed beside its own fluid has its value again, to the last bit, and
// so its content. Volumes that were merged in between have a linear profile about their common mean; Σ over
// them is that of before and of the lines above, which cancel as far as the values do.
#pragma once

#include <functional>
#include <string>

#include "fields/state.hpp"
#include "transport/regrid/wall_change.hpp"

namespace karst {

/// What became of Σ value x volume, over all ranks [unit h0³].
struct WallBalance {
  double before = 0.0, after = 0.0;
  double opened = 0.0, closed = 0.0;
  double entered = 0.0, cut_off = 0.0;
  double swept() const { return opened - closed; }
  /// after - (before + opened - closed + entered - cut_off): round-off.
  double residual() const { return after - before - swept() - entered + cut_off; }
};

/// Collective.
/// @param values   one per own volume of the earlier grid
/// @param at_wall  of each, at its wall: what opens beside it has this concentration, and so has what closes, as long
///                 as no more closes than ten times what stays and no value leaves the range of all; empty: that of
///                 the volume
/// @param of_pore  value in pores that had been removed
/// @return one per own volume of the later one
std::vector<double> contents_on_other_walls(WallChange& change, std::span<const double> values,
                                            std::span<const double> at_wall, double of_pore, WallBalance& balance);
std::vector<double> amounts_on_other_walls(WallChange& change, std::span<const double> values, double of_pore,
                                           WallBalance& balance);
std::vector<double> points_on_other_walls(WallChange& change, std::span<const double> values, double of_pore);

/// Of contents and amounts, each component.
struct ItemOnOtherWalls {
  std::string name;
  int component = 0;
  WallBalance balance;
};

/// Value of an item's component in pores that had been removed.
using ValueOfPores = std::function<double(const StateItem& item, int component)>;
/// Values of a content at walls, one per own volume of the earlier grid; empty: those of the volumes.
using ValuesAtWalls = std::function<std::vector<double>(const StateItem& item, int component)>;

/// The state between the other walls, as its kinds say; see state_on_other_grid(). Collective.
/// @param of_pores  asked where the change has Volumes::entered > 0, on all ranks; may be empty where it has not
State state_on_other_walls(WallChange& change, const State& state, const ValueOfPores& of_pores,
                           const ValuesAtWalls& at_walls, std::vector<ItemOnOtherWalls>& items);

}  // namespace karst
