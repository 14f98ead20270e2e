// SPDX-License-Identifier: BSD-3-Clause
// Algebra of level sets. φ > 0 is fluid, so the union of solids is the minimum and their intersection the maximum.
//
// Parts that cannot determine the sign or the value inside a box are removed by local(); the result is bitwise the same
// as with all parts, because a minimum does not depend on larger values.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

using LevelSetParts = std::vector<std::unique_ptr<LevelSet>>;

/// Solid where any part is: φ = min φ_i. The mineral of the wall is that of the part that determines φ.
/// @param minerals  LevelSet::minerals() of the whole; as set by of_mineral() for the parts. Throws Error without
/// parts.
std::unique_ptr<LevelSet> union_of_solids(LevelSetParts parts, std::vector<std::string> minerals = {unnamed_mineral});
/// Solid where all parts are: φ = max φ_i. The rest as above.
std::unique_ptr<LevelSet> intersection_of_solids(LevelSetParts parts,
                                                 std::vector<std::string> minerals = {unnamed_mineral});
/// The same φ with the mineral `number` for its solid. Must be applied outside of complement() and periodic_images(),
/// not inside.
std::unique_ptr<LevelSet> of_mineral(std::unique_ptr<LevelSet> part, MineralNumber number);
/// Solid and fluid exchanged: φ = -φ_0.
std::unique_ptr<LevelSet> complement(std::unique_ptr<LevelSet> part);
/// The same of one that must outlive it, wherever that has its walls now; without its minerals.
/// @param spacing  features that samples so far apart miss are not looked for; 0: as in the whole
std::unique_ptr<LevelSet> complement_of(const LevelSet& whole, double spacing = 0.0);

/// The solid repeated with the period of the domain: φ(x) = min_n φ_0(x - n L), n = -m..m in the periodic directions.
///
/// m is large enough to include all images that reach the domain or 8 cells around it. φ(x + L) is bitwise equal to
/// φ(x) near the wall if the coordinate of x in that direction is a lattice node and L an integer.
/// @param period  L, in level-0 cells
/// @param extent  of the body on both sides of its centre, which must be inside the domain, along x, y and z [level-0
///                cells]; finite (bodies without ends: endless_images.hpp)
/// @param what    names the solid in messages
/// Throws Error where more than 3000 images would be needed, with which cutting takes minutes.
std::unique_ptr<LevelSet> periodic_images(std::unique_ptr<LevelSet> part, const Vec3& period,
                                          const std::array<bool, 3>& periodic, const Vec3& extent,
                                          const std::string& what = "a solid");
/// The same of images at these places: φ(x) = min φ_0(x - shift). At least one.
std::unique_ptr<LevelSet> images(std::unique_ptr<LevelSet> part, std::vector<Vec3> shifts);

/// Bounds of the combination of two parts: the larger Lipschitz constant (0, unknown, takes precedence) and the smaller
/// of the given sample spacings. Parts combined with one that has a given spacing are resolved only to this spacing.
Smoothness combined(const Smoothness& a, const Smoothness& b);

/// Signs of the minimum of two φ in a box; a part that is fluid everywhere has no effect.
SignBounds signs_of_minimum(const SignBounds& a, const SignBounds& b);
/// Signs of -φ.
SignBounds complement_of(const SignBounds& s);

}  // namespace karst
