// SPDX-License-Identifier: BSD-3-Clause
// Packings: the union of up to millions of spheres, from a file or a list, periodic where asked for.
//
//   φ(x) = min( min_i |x - c_i - n L| - r_i,  reach )        over all spheres i and periodic images n
//
// That is the exact distance to the union in the fluid, up to `reach`, and a lower bound of the depth (exact inside a
// single sphere) in the solid; |φ(x) - φ(y)| <= |x - y| everywhere. Spheres are found through a cell list, and each
// box is split into bricks that know the few spheres which can be nearest in them. Whatever the box, φ has the same
// bits; and φ(x + L) those of φ(x) when the coordinate in that direction is a lattice node and L an integer.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "eb/shapes/level_set.hpp"
#include "eb/shapes/shapes.hpp"

namespace karst {

/// How to read a list of spheres from a text file.
///
/// One sphere per line, numbers separated by blanks, tabs, commas or semicolons. Empty lines and lines that begin with
/// # are skipped.
struct SphereFile {
  std::string path{};
  /// What the columns hold, in order: x y z r, each once (no r when radius is given); `index` and `_` are ignored.
  std::string columns = "x y z r";
  int skip_lines = 0;   ///< lines of header
  double scale = 1.0;   ///< metres per unit of the file, for positions and radii
  Vec3 shift{};         ///< added to positions after scaling [m]
  double radius = 0.0;  ///< of all spheres when > 0 [m]
};

/// The spheres of a file [m]. Throws Error (with path and line) when the file cannot be read, names a column it does
/// not know or names one twice, when a line has another number of values than there are columns, a value is not a
/// number or a radius is not positive, and when there is no sphere at all. Not collective.
std::vector<Sphere> read_spheres(const SphereFile& file);

/// The domain as geometry sees it: its size, in level-0 cells, is the period in the periodic directions.
struct Periods {
  Vec3 size;
  std::array<bool, 3> periodic{};
};

/// Level set of the union of spheres (in level-0 cells). Throws Error without spheres, when a radius is not positive or
/// a period is not positive.
/// @param reach  φ is cut off at this distance, at least 4 cells
std::unique_ptr<LevelSet> make_sphere_list(std::vector<Sphere> spheres, const Periods& periods, double reach = 32.0);

}  // namespace karst
