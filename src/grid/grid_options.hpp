// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "grid/layout.hpp"

namespace karst {

/// One [[grid.refine]]: the part of the domain to be covered by boxes of a finer level (and of all levels below it).
struct Refinement {
  /// First the places that stay, then those that follow the solution.
  enum class Where : std::uint8_t { wall, region, throat, front, gradient, speed, vorticity, rate, formula };
  int level = 1;
  Where where = Where::wall;
  Vec3 lo, hi;                   ///< region: corners [m]
  int buffer = 2;                ///< cells of the next coarser level added around
  std::string component{};       ///< front, gradient, rate: of transport; empty: the only one, of a rate any
  double low = 0.0, high = 0.0;  ///< front: the values between which it is [C]
  double change = 0.0;           ///< gradient: between neighbouring cells of the next coarser level [C]
  int cells = 0;                 ///< throat: pores narrower than so many cells of the next coarser level
  double above = 0.0;            ///< speed [m/s], vorticity [1/s], rate [mol/m²/s], formula
  std::optional<double> keep{};  ///< what is refined stays so down to this value; none: to half of the threshold
  bool relative = false;         ///< speed, vorticity: above and keep are multiples of the mean over the fluid
  std::string mineral{};         ///< rate: of [chemistry]; empty: any
  std::string formula{};

  /// It follows the solution in runs through time.
  bool follows() const { return where >= Where::front; }
  /// It is refined where more is found. A front is found (1) or not (0).
  double threshold() const { return where == Where::gradient ? change : where == Where::front ? 0.5 : above; }
  double kept() const {
    const double t = threshold();
    return keep.value_or(where == Where::front ? t : std::min(t, 0.5 * t));
  }
};

/// Boxes that a run asks for beside those of the deck: [level - 1], strictly increasing Morton keys of their lattice
/// positions, the same on every rank.
using FlaggedBoxes = std::vector<std::vector<std::uint64_t>>;

/// The [grid] table of the deck.
struct GridOptions {
  Index cells;  ///< of level 0; 0 0 0: to be taken from the image
  Vec3 size;    ///< of the domain [m]; 0 0 0: to be taken from the image
  std::array<bool, 3> periodic{};
  int box = 16;
  int levels = 1;
  std::vector<Refinement> refine;
  std::int64_t max_cells = 0;  ///< unknowns of all levels; 0: any number
  int follow_every = 1;        ///< steps from one look at the solution to the next
  /// In place of what follows the solution; none: that is everywhere. Not in the deck.
  std::optional<FlaggedBoxes> flagged{};

  Domain domain() const { return {cells, periodic}; }
  double cell_width() const { return size[0] / cells[0]; }  ///< of level 0 [m]
  bool follows() const { return std::ranges::any_of(refine, &Refinement::follows); }
};

/// The same grid with these boxes, and as many levels as they need.
GridOptions with_flagged(GridOptions grid, std::optional<FlaggedBoxes> flagged);

/// Declares and reads the keys of [grid]; errors go to the reader. Values that an image may supply (cells, size) are
/// not required here: check the result with not_cubes().
void read(Reader& in, GridOptions& grid);

/// Error message if cells and size do not give cubes (widths equal to 1e-6), otherwise empty.
std::string not_cubes(const GridOptions& grid);

}  // namespace karst
