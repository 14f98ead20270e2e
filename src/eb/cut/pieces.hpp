// SPDX-License-Identifier: BSD-3-Clause
// Pieces of fluid in the cells of one box: the result of cutting a box with the level set, before pieces are linked
// across cells. All lengths are in units of the cell width h of the level; positions are relative to the cell centre.
#pragma once

#include <cstdint>
#include <vector>

#include "eb/shapes/level_set.hpp"
#include "grid/box.hpp"

namespace karst {

enum class CellKind : std::uint8_t { covered, regular, cut };

/// One connected piece of fluid on one side of a cell. Both cells at a face have the same face pieces with the same
/// ordinals, apertures and centroids (a face is computed only from data on the face).
struct FacePiece {
  std::uint8_t side;               ///< 0..5: -x +x -y +y -z +z
  std::uint8_t ordinal;            ///< number of the piece on this face
  double aperture;                 ///< area / h²
  std::array<double, 2> centroid;  ///< in the two other directions, increasing order, in [-1/2, 1/2]
};

/// One connected piece of fluid in a cut cell.
///
/// Closure: wall + Σ_low α e_d - Σ_high α e_d = 0, that is a_w n = Σ_high α e_d - Σ_low α e_d, n into the fluid.
struct Piece {
  std::uint16_t cell;  ///< offset of the cell in the box
  bool holds_center;   ///< the cell centre is in this piece (φ > 0 there)
  double kappa;        ///< volume / h³
  Vec3 centroid;       ///< of the fluid
  Vec3 wall;           ///< a_w n: wall area vector / h², into the fluid
  double wall_area;    ///< Σ of the facets' areas / h² (>= |wall|)
  Vec3 wall_centroid;
  std::uint32_t first_face;  ///< faces [first_face, first_face + n_faces), sorted by side and ordinal
  std::uint16_t n_faces;
  std::uint32_t first_mineral = 0;  ///< [first_mineral, first_mineral + n_minerals) of BoxPieces::minerals
  std::uint16_t n_minerals = 0;
};

/// Area of one mineral in a wall / h².
struct MineralArea {
  double area;
  MineralNumber mineral;
};

/// Counts of special cases in cutting; summed over boxes and ranks and reported.
struct CutCounts {
  std::int64_t cells_covered = 0, cells_regular = 0, cells_cut = 0;
  std::int64_t pieces = 0;             ///< pieces in cut cells
  std::int64_t cells_multivalued = 0;  ///< cells with more than one piece
  std::int64_t cells_subdivided = 0;   ///< cells with a feature thinner than h, cut on a finer lattice
  /// Edges of the finest lattice with solid thinner than h/16 between fluid: the wall may leak there.
  std::int64_t walls_lost = 0;
  /// Edges with fluid thinner than h/4 between solids (grains near their contact): closed.
  std::int64_t gaps_closed = 0;
  CutCounts& operator+=(const CutCounts& o);
};

struct BoxPieces {
  Box cells;
  std::vector<CellKind> kind;  ///< one per cell, x fastest
  std::vector<Piece> pieces;   ///< of the cut cells, sorted by cell
  std::vector<FacePiece> faces;
  /// Of the walls of the pieces, each sorted by mineral, with Σ area = wall_area; empty if φ has one mineral.
  std::vector<MineralArea> minerals;
  CutCounts counts;
};

}  // namespace karst
