// SPDX-License-Identifier: BSD-3-Clause
// Transfers a field to another composite grid with the same walls, level 0 cells and box size, but other refinement or
// other ranks. For each unknown of the new grid, the first of these that the old grid has at its (level, cell, piece of
// fluid in the cell):
//
//   the same VoF            its value, bitwise: of an unknown, or of a covered VoF the mean of the VoFs that cover it
//   a coarser VoF           φ + s·(x - x_parent) at the cell centre; s: central differences of the parent, scaled so
//                           that it remains within the bounds of the parent and its neighbours at the centres
//                           of its octants (Barth & Jespersen, AIAA 89-0366 (1989)). Regular children conserve the
//                           parent's
//                           mass
//   none (no fluid there)   the value of the nearest VoF of the old box
//
// Where cells are cut, levels differ in the volume of the fluid, and so in mass. The difference is distributed over the
// VoFs that are not copies, each of which moves by the same fraction of the distance to its bound: mass is conserved to
// round-off and no bound is violated. Only if all of them are at their bounds (a constant field) does mass change, by
// the amount in TransferReport.
#pragma once

#include "fields/fill_ghosts.hpp"

namespace karst {

struct TransferReport {
  std::int64_t copied = 0;        ///< unknowns with the value of an old unknown
  std::int64_t averaged = 0;      ///< from finer ones
  std::int64_t interpolated = 0;  ///< from coarser ones
  std::int64_t from_nearest = 0;  ///< without a VoF at their position
  std::vector<double>
      mass_changed;  ///< per component [value h0³]: new - old, the part that the bounds do not allow to correct
};

/// Sets the unknowns of `to`. Reads those of `from`, and fills all its other slots. Throws Error if the grids differ in
/// cells, box size or number of components. Collective.
TransferReport transfer(CellField& from, FillGhosts& fill, CellField& to);

}  // namespace karst
