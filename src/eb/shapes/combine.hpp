// SPDX-License-Identifier: BSD-3-Clause
// Algebra of level sets. φ > 0 is fluid, so the union of solids is the minimum and their intersection the maximum.
//
// Parts that cannot decide the sign or the value inside a box are dropped by local(); what remains gives the same bits
// as all parts would, because a minimum does not depend on its losers.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

using LevelSetParts = std::vector<std::unique_ptr<LevelSet>>;

/// Solid where any part is: φ = min φ_i. The wall is of the mineral of the part that φ is of.
/// @param minerals  LevelSet::minerals() of the whole; what of_mineral() gave the parts
/// Throws Error without parts.
std::unique_ptr<LevelSet> union_of_solids(LevelSetParts parts, std::vector<std::string> minerals = {unnamed_mineral});
/// Solid where all parts are: φ = max φ_i. The rest as above.
std::unique_ptr<LevelSet> intersection_of_solids(LevelSetParts parts,
                                                 std::vector<std::string> minerals = {unnamed_mineral});
/// The same φ; its solid is of mineral `number`. Goes around complement() and periodic_images(), not into them.
std::unique_ptr<LevelSet> of_mineral(std::unique_ptr<LevelSet> part, MineralNumber number);
/// Solid and fluid exchanged: φ = -φ_0.
std::unique_ptr<LevelSet> complement(std::unique_ptr<LevelSet> part);

/// The solid repeated with the period of the domain: φ(x) = min_n φ_0(x - n L), n = -m..m in the periodic directions.
///
/// m is large enough that no image that reaches the domain, or 8 cells around it, is missing. φ(x + L) has the same
/// bits as φ(x) near the wall when the coordinate of x in that direction is a lattice node and L an integer.
/// @param period  L, in level-0 cells
/// @param extent  radius around its centre, which must lie inside the domain, that holds the body; infinite for bodies
///                without end, which get m = 2
std::unique_ptr<LevelSet> periodic_images(std::unique_ptr<LevelSet> part, const Vec3& period,
                                          const std::array<bool, 3>& periodic, double extent);

/// What holds for the combination of two parts: the larger Lipschitz constant (0, unknown, wins) and the smaller of
/// the sample spacings that are stated. Next to a part with a stated spacing, the others are resolved only that far.
Smoothness combined(const Smoothness& a, const Smoothness& b);

/// Signs of the minimum of two φ in a box; a part that is fluid everywhere does not matter.
SignBounds signs_of_minimum(const SignBounds& a, const SignBounds& b);
/// Signs of -φ.
SignBounds complement_of(const SignBounds& s);

}  // namespace karst
