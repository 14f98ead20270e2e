// SPDX-License-Identifier: BSD-3-Clause
// Weights of the least-squares gradients of volumes that are not plain (find_gradient()).
#pragma once

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Adds the weights for values prescribed on these sides; the grid has its lists, but not these weights. Where it has
/// others, those of volumes that they do not tell apart are copied. Returns, for the first weights of a grid, the
/// number of own volumes whose gradient lacks a direction that the domain has. Threaded; not collective.
std::int64_t add_gradient_weights(const GivenSides& given, ScalarGrid& grid);

}  // namespace karst
