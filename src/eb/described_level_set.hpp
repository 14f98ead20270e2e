// SPDX-License-Identifier: BSD-3-Clause
// Converts the solids of the deck (SI units) to one level set (units of the level-0 cell width).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "eb/geometry_options.hpp"
#include "eb/shapes/level_set.hpp"

namespace karst {

/// Level set of options.solids, combined by options.operation.
///
/// Shapes of finite size and cylinders are repeated in the periodic directions of the grid, and in all directions with
/// periodic = true. Planes and expressions are not repeated. Sphere files are read relative to options.directory, by
/// every rank. Not collective.
/// @param h0        level-0 cell width [m]
/// @param size      of the domain [m]: an integer number of cells per direction, otherwise Error
/// @param periodic  directions in which the grid is periodic. Without solids all is fluid. Throws Error for positions
/// and lengths above 1e8 cells, for formulas whose sign changes more than 32 times per cell width, and the errors of
/// choose_minerals, make_level_set, read_spheres and make_expression.
std::unique_ptr<LevelSet> make_described_level_set(const GeometryOptions& options, double h0, const Vec3& size,
                                                   const std::array<bool, 3>& periodic);

/// φ of one shape as a part of the domain: φ <= 0 inside; repeated as above. Errors of positions and lengths as above.
/// @param key        of its table in messages: "transport.region[2]"
/// @param directory  of the deck
std::unique_ptr<LevelSet> make_region(const SolidOptions& shape, const std::string& key, const std::string& directory,
                                      double h0, const Vec3& size, const std::array<bool, 3>& periodic);

/// Numbers of the solids that reach into no cell of the domain and so change nothing. Those that no Lipschitz bound
/// holds for (expressions), and what is within half a cell of the domain, are not among them. Arguments and errors as
/// above.
std::vector<std::size_t> solids_outside(const GeometryOptions& options, double h0, const Vec3& size,
                                        const std::array<bool, 3>& periodic);

/// Shapes that may lie between the grid lines on which the wall is looked for: those of less than a cell in two
/// directions, and plates of less than a sixteenth of one. They are missing then, in part or altogether.
struct NarrowShapes {
  std::int64_t count = 0, of = 0;  ///< spheres of a file are counted one by one; planes and formulas are not among them
  std::size_t first = 0;           ///< number of the solid of the first
  double narrowest = 0.0;          ///< diameter, or what decides [m]
};
/// @param h  cell width at the wall [m]
NarrowShapes narrow_shapes(const GeometryOptions& options, double h);

/// A periodic direction along which the solids together do not repeat themselves.
struct Seam {
  int direction = 0;
  double differ = 0.0;              ///< part of the area of its two faces on which fluid meets solid
  std::vector<std::size_t> solids;  ///< numbers of the planes and formulas that are others on these faces
};
/// From 64 x 64 places on each face; a thousandth of them and less is round-off. All other shapes are repeated.
/// Arguments and errors as above.
std::vector<Seam> seams(const GeometryOptions& options, double h0, const Vec3& size,
                        const std::array<bool, 3>& periodic);

}  // namespace karst
