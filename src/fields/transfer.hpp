// SPDX-License-Identifier: BSD-3-Clause
// A field to another composite grid of the same walls, level 0 cells and box size: other refinement, other ranks. Per
// unknown of the new grid, the first of these that the old one has at its (level, cell, piece of fluid in the cell):
//
//   the same VoF            its value, bit by bit: an unknown as it is, a covered VoF the mean of what covers it
//   a coarser VoF           φ + s·(x - x_parent) at the cell centre; s: central differences of the parent, scaled so
//                           that it stays within the bounds of the parent and its neighbours at the centres
//                           of its octants (Barth & Jespersen, AIAA 89-0366 (1989)). Whole children keep the parent's
//                           mass
//   none (no fluid there)   the value of the nearest VoF of the old box
//
// Where cells are cut, levels differ in the volume of the fluid, and with it in mass. What is missing is spread over
// the VoFs that are no copies, each moved by the same part of its way to a bound of its own: mass is kept to round-off
// and no bound is passed. Only when all of them are at their bounds (a constant field) does mass change, by what
// TransferReport says.
#pragma once

#include "fields/fill_ghosts.hpp"

namespace karst {

struct TransferReport {
  std::int64_t copied = 0;           ///< unknowns with the value of an old unknown
  std::int64_t averaged = 0;         ///< from finer ones
  std::int64_t interpolated = 0;     ///< from coarser ones
  std::int64_t from_nearest = 0;     ///< without a VoF at their place
  std::vector<double> mass_changed;  ///< per component [value h0³]: new - old, beyond what bounds allow to mend
};

/// Sets the unknowns of `to`. Those of `from` are read, all its other slots filled. Throws Error when the grids differ
/// in cells, box size or number of components. Collective.
TransferReport transfer(CellField& from, FillGhosts& fill, CellField& to);

}  // namespace karst
