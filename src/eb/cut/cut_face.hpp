// SPDX-License-Identifier: BSD-3-Clause
// Fluid on one face of a cell, only from data on that face: both cells at a face get bitwise the same result.
#pragma once

#include "eb/cut/cut_lattice.hpp"

namespace karst {

/// Face pieces smaller than this (area / h²) are closed.
constexpr double min_aperture = 1e-14;

using Point2 = std::array<double, 2>;

/// The other two directions of a face in direction d, increasing.
constexpr std::array<int, 2> face_directions(int d) { return {d == 0 ? 1 : 0, d == 2 ? 1 : 2}; }

/// Fluid polygons of a face with at most one crossing per edge. Corners are numbered around the face: 0 (0,0), 1 (1,0),
/// 2 (1,1), 3 (0,1); edge r joins corners r and r + 1.
struct UnitFace {
  int n_polygons = 0;
  std::array<std::uint8_t, 2> corners;  ///< fluid corners of each polygon, one bit each
  std::array<double, 2> area;
  std::array<Point2, 2> centroid;  ///< in [0, 1]²
  int n_segments = 0;
  std::array<std::uint8_t, 2> exit,
      entry;  ///< edges where the ring leaves and next enters the fluid; the wall is between them
};

/// @param fluid   corners in the fluid, one bit each
/// @param t       crossing of each edge in [0, 1], along the increasing coordinate
/// @param joined  whether two diagonal fluid corners are one polygon
/// @param[out] face  entries beyond the counts are unchanged
void cut_unit_face(unsigned fluid, const std::array<double, 4>& t, bool joined, UnitFace& face);

/// Position of the crossing of edge r on the face.
constexpr Point2 ring_point(int r, double t) {
  return r == 0 ? Point2{t, 0} : r == 1 ? Point2{1, t} : r == 2 ? Point2{t, 1} : Point2{0, t};
}

/// Pieces of fluid on one face.
struct FaceSet {
  struct Part {
    double aperture;
    Point2 centroid;  ///< in [-1/2, 1/2]²
  };
  static constexpr std::uint8_t none = 255;
  std::vector<Part> parts;          ///< by ordinal: the order of their first nodes, first direction fastest
  int depth = 0;                    ///< nodes are 2^-depth apart
  std::vector<std::uint8_t> label;  ///< (2^depth + 1)²: ordinal of the piece around a fluid node, or none
  bool whole() const { return parts.size() == 1 && parts[0].aperture == 1; }
};

/// Whether φ at the centre of a face or cell has another sign than its corners, which have equal signs; evaluated only
/// if the smoothness of φ permits it.
/// @param corner_max  largest |φ| at the corners; distance: from a corner to the centre
inline bool center_differs(const LatticePhi& phi, const Vec3& center, double corner_max, double distance, bool fluid) {
  return !phi.excludes_wall(corner_max, 0.0, distance) && is_fluid(phi.at(center)) != fluid;
}

/// Ring order of the corners, node offsets and edges of a face in a lattice.
struct FaceStencil {
  std::array<std::size_t, 4> corner;  ///< offsets of the corner nodes
  std::array<std::size_t, 4> edge;    ///< offsets of the low nodes of the edges
  std::array<int, 4> direction;       ///< of the edges
};
FaceStencil face_stencil(const Lattice& lattice, int d);

/// Whether the corners of the face at `node` (position low) of a lattice have equal signs, but its centre another one:
/// a hidden feature.
bool face_center_differs(const Lattice& lattice, const FaceStencil& stencil, const LatticePhi& phi, const Vec3& low,
                         std::size_t node);

/// Computes faces; retains its memory between calls.
class FaceCutter {
 public:
  /// Face in direction d with low corner `node`, on the sub-lattice that its hidden walls require.
  void cut(const LatticePhi& phi, const Index& node, int d, FaceSet& face);
  /// Face between a refined and an unrefined cell: the four faces of the next finer level, joined.
  void cut_refined(const LatticePhi& phi, const Index& node, int d, FaceSet& face);

 private:
  struct Sum {
    double area = 0, mx = 0, my = 0;
  };
  bool cut_at_depth(const LatticePhi& phi, const Index& node, int d, int depth, FaceSet& face);
  void join_faces(const LatticePhi& phi, int d, const FaceStencil& stencil, FaceSet& face);
  void number_parts(int n, FaceSet& face);
  void join_quarters(FaceSet& face);

  Lattice lattice_;
  std::vector<Sum> sums_;
  std::vector<int> parent_, ordinal_;
  std::array<FaceSet, 4> quarter_;
};

/// Union-find over node numbers.
int find_root(std::vector<int>& parent, int a);
void unite(std::vector<int>& parent, int a, int b);

}  // namespace karst
