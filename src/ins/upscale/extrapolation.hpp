// SPDX-License-Identifier: BSD-3-Clause
// How far a permeability is from that of cells of no width, from the same on two coarser grids (decision 016); likewise
// an effective diffusivity, or any other quantity that walls of a pore space decide.
//
//   k(w) = k0 + κ b(w) + C w^p      w  cell width / that of the finest of the grids
//
// C w^p is the error of the discretisation. κ b(w) is what trilinear interpolation does to the wall of an image: φ of a
// convex grain, interpolated between samples, is too large, so the wall on a grid line recedes by
// t_y (1 - t_y) + t_z (1 - t_z), over twice the grain's radius, where t is how far (in voxels) the line passes beside
// the samples. All lines of cells as wide as voxels pass through samples, those of cells twice as wide half way between
// them, and finer cells see the mean; so k of one cell per voxel is too low, that of wider cells too high, and
// extrapolation without b goes the wrong way. b(w) is the mean of t (1 - t) over the lines, less 1/6.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// A permeability, or other quantity, on one grid.
struct GridValue {
  double width = 1.0;         ///< w: 1 on the finest grid
  double line_offset = 0.0;   ///< b, see line_offset(); 0 where φ is not interpolated
  double permeability = 0.0;  ///< any unit
};

/// What an estimated error was made from.
enum class ErrorBasis {
  none,           ///< one grid only: nothing is known
  one_change,     ///< a multiple of the change to the only other grid
  larger_change,  ///< the grids disagree: the larger of the changes to two of them
  limit,          ///< k0
  refinement      ///< the change from the grid before, where the grid was refined (error_by_friction.hpp)
};

struct Extrapolated {
  double error = 0.0;           ///< estimated |k(1) - k0|, in the unit of the permeabilities; NaN: one grid only
  std::optional<double> limit;  ///< k0, in the unit of the permeabilities; see extrapolate()
  ErrorBasis basis = ErrorBasis::none;
};

/// Of grids about twice and three times as wide. k0 comes from p = 2 and κ where the b differ; else κ = 0 and p, from 1
/// to 2, is that of the three grids. The error is then 2 |k0 - k(1)|, at most the change |k(2) - k(1)| and for images
/// at least 0.9 of it.
///
/// No k0 where the grids disagree: the third is nearer to the first than the second (images: on its other side) or, of
/// described walls, so far from it that an order above 2.5 would follow, k0 is
/// further from the first than the second, or (images, lines through the samples: b(1) < 0) k0 and k(2) lie on
/// different sides of k(1), so that what is left of the two errors is chance. Then one change may be small by chance,
/// too: the error is the larger of that to the second grid and 1.25 times that to the one between; without one between,
/// the larger of those to the second and the third. Where only one grid is left: 1.5 times the change to the second,
/// twice that to the one between; of an image nothing is known from that one alone, as C and κ may cancel (values off
/// by 4 to 7 %: 0.2 to 8 % told). Measured on random crops: decision 016. Not collective.
/// @param grids    finest first, widths increasing; at least one, none beyond the third is used
/// @param between  about 1.5 times as wide: asked for where the others give no k0. Its lines pass beside the samples of
///                 an image as those of finer cells do, and it keeps throats that the third grid loses
Extrapolated extrapolate(std::span<const GridValue> grids, const std::optional<GridValue>& between = {});

/// A quantity in any unit, found on other grids by its number: its axis, where there is one along each.
struct NumberedValue {
  int number = 0;
  double value = 0.0;
};

/// The same sample on a wider grid.
struct WiderGrid {
  double width = 2.0;                 ///< of its cells / those of the grid whose error is asked for
  double line_offset = 0.0;           ///< b
  std::vector<NumberedValue> values;  ///< those that were solved there
};

/// Of one value; without an estimate where it was solved on none of the grids.
/// @param fine         on the grid whose error is asked for
/// @param line_offset  of that grid
/// @param wider        by increasing width
/// @param between      of what the others left without a limit
Extrapolated extrapolate_value(const NumberedValue& fine, double line_offset, const std::vector<WiderGrid>& wider,
                               const WiderGrid& between);

/// b of n cells in a row, each `voxels` wide, through an image whose samples stand at voxel centres.
double line_offset(double voxels, int n);

/// Numbers of cells of grids about twice and three times as wide that fill the same domain with cubes: along every
/// direction of more than one cell at least 4 of them. Where three times is too wide for that, as in a sample ten cells
/// thick, the second is the widest of 2.25 and more that fits. Empty when not even the first fits; an even number of
/// cells along every direction is enough for it, one that three divides for the second.
/// @param copies  of a sample that stand side by side: each has as many cells, and those asked for of its own
std::vector<Index> wider_grids(const Index& cells, const Index& copies = {1, 1, 1});

/// The same of a grid about 1.5 times as wide, from 1.2 to 1.8; nothing where none fits.
std::optional<Index> grid_between(const Index& cells, const Index& copies = {1, 1, 1});

}  // namespace karst
