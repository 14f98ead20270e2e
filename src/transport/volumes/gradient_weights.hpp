// SPDX-License-Identifier: BSD-3-Clause
// Weights of the least-squares gradients of volumes that are not plain (find_gradient()).
#pragma once

#include "fields/same_boxes.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// A grid before, and where it was the same: weights are copied there.
struct WeightsBefore {
  const ScalarGrid* grid = nullptr;  ///< nullptr: none
  const SameBoxes* same = nullptr;
};

/// Adds the weights for values prescribed on these sides; the grid has its lists, but not these weights. Where it has
/// others, those of volumes that they do not tell apart are copied. Returns, for the first weights of a grid, the
/// number of own volumes whose gradient lacks a direction that the domain has; copied ones do not count. Threaded; not
/// collective.
std::int64_t add_gradient_weights(const GivenSides& given, ScalarGrid& grid, const WeightsBefore& before = {});
/// All weights of the grid before that this one lacks; they are those made of none, bit by bit.
void take_gradient_weights(const WeightsBefore& before, ScalarGrid& grid);

}  // namespace karst
