// SPDX-License-Identifier: BSD-3-Clause
// A cell with features thinner than h, cut on a sub-lattice.
#pragma once

#include "eb/cut/cut_cube.hpp"
#include "eb/cut/pieces.hpp"
#include "eb/cut/wall_minerals.hpp"

namespace karst {

/// Pieces without a face and with less volume than this are removed.
constexpr double min_kappa = 1e-12;

/// Cuts cells on sub-lattices; retains its memory between calls.
class CellCutter {
 public:
  /// Appends the pieces of a cell and their faces to `box`; counts lost walls and closed gaps.
  ///
  /// Sub-lattice of depth max(min_depth, deepest face) or deeper, until no edge of it has a hidden wall or the limit is
  /// reached. Its connected nodes are the pieces, joined where they touch the same face piece; κ and wall area are sums
  /// over the sub-cubes, apertures are those of `faces`, and the wall vector closes the piece.
  /// @param faces  by side, computed by FaceCutter
  void cut(const LatticePhi& phi, const Index& cell, const std::array<const FaceSet*, 6>& faces, int min_depth,
           std::uint16_t offset, BoxPieces& box);

 private:
  /// Wall of the piece that contains a node.
  struct NodeMineral {
    int node;
    MineralArea wall;
  };
  struct Sum {
    double volume = 0, wall_area = 0;
    Vec3 moment, wall_moment;
  };
  /// Component that contains each face piece, by side and ordinal.
  struct FaceOwner {
    int side, ordinal, node;
  };
  int fill_lattice(const LatticePhi& phi, const Index& cell, int depth);
  void cut_cubes(const LatticePhi& phi, int n);
  void note_minerals(const LatticePhi& phi, const Vec3& low, int piece, std::size_t node, double scale);
  void attach_faces(const std::array<const FaceSet*, 6>& faces, int depth);
  int nearest_fluid_node(int side, const Point2& at, int n) const;
  void append(const LatticePhi& phi, const Index& cell, const std::array<const FaceSet*, 6>& faces, int depth,
              std::uint16_t offset, BoxPieces& box);
  void minerals_of(const LatticePhi& phi, const Index& cell, int node);

  Lattice lattice_;
  CubeCut cube_cut_;
  std::vector<int> parent_;
  std::vector<Sum> sums_;
  std::vector<FaceOwner> owners_;
  std::vector<NodeMineral> minerals_;
  std::vector<double> areas_;  ///< per mineral
};

/// Completes and appends one piece: centroids from moments, κ within [0, 1]. Its faces are the last `n_faces` of
/// box.faces. Removes it if it has neither a face nor volume.
/// @param piece  kappa, wall, wall_area set; centroid and wall_centroid contain moments about the cell's low corner
/// @param areas  of its wall per mineral, scaled to add up to its wall area; empty if there is one mineral
void append_piece(Piece piece, std::size_t n_faces, std::span<const double> areas, BoxPieces& box);

}  // namespace karst
