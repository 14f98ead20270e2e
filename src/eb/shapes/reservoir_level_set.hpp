// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// A sample between two reservoirs of free fluid: its solid, moved by `before` along a direction, inside the slab
/// before <= x_d <= before + length, and fluid outside.
///
///   φ(x) = max(φ_sample(x - before e_d), before - x_d, x_d - before - length)
///
/// Where the sample is cut open its solid ends in a plane, on which φ = 0 and whose minerals are those of the solid.
/// Whole numbers of cells keep the walls of the sample as they are without reservoirs.
std::unique_ptr<LevelSet> between_reservoirs(std::unique_ptr<LevelSet> sample, int direction, double before,
                                             double length);

}  // namespace karst
