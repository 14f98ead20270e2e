// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// A sample that stands side by side again and again: φ(x) = φ_sample(x - L floor(x / L)), each direction for itself.
/// Whole numbers of cells make all copies equal but for rounding. The sample repeats itself, so that it goes on
/// smoothly from one copy to the next.
/// @param period  L [cells]; 0: there is one copy along this direction
std::unique_ptr<LevelSet> repeated(std::unique_ptr<LevelSet> sample, const Vec3& period);

}  // namespace karst
