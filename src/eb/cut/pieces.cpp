// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/pieces.hpp"

namespace karst {

CutCounts& CutCounts::operator+=(const CutCounts& o) {
  cells_covered += o.cells_covered;
  cells_regular += o.cells_regular;
  cells_cut += o.cells_cut;
  pieces += o.pieces;
  cells_multivalued += o.cells_multivalued;
  cells_subdivided += o.cells_subdivided;
  walls_lost += o.walls_lost;
  gaps_closed += o.gaps_closed;
  return *this;
}

}  // namespace karst
