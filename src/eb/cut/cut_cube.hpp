// SPDX-License-Identifier: BSD-3-Clause
// Fluid in one cube whose edges are crossed at most once: a closed polyhedron per connected piece.
#pragma once

#include "eb/cut/cut_face.hpp"

namespace karst {

/// A cube of a lattice, in coordinates of the cube, [0, 1]³. Corner c = x + 2 y + 4 z; edge 4 d + a + 2 b runs in
/// direction d at (a, b) in the other two directions.
struct Cube {
  unsigned fluid = 0;   ///< corners in the fluid, one bit each
  unsigned joined = 0;  ///< sides whose two diagonal fluid corners belong to one polygon, one bit each
  std::array<double, 8> phi{};
  std::array<double, 12> t{};  ///< crossings
};

/// One connected piece; lengths in units of the cube, positions in [0, 1]³.
struct CubePiece {
  unsigned corners = 0;  ///< fluid corners of the piece, one bit each
  double volume = 0;
  Vec3 moment;  ///< ∫ x dV
  Vec3 wall;    ///< area vector into the fluid
  double wall_area = 0;
  Vec3 wall_moment;  ///< ∫ x dA over the wall
};

struct WallTriangle {
  std::array<Vec3, 3> corner;
  double area;
  int piece;
};

struct CubeCut {
  int n_pieces = 0;
  std::array<CubePiece, 4> piece;
  int n_triangles = 0;
  std::array<WallTriangle, 12> triangle;             ///< of the wall; only if φ has several minerals
  std::array<UnitFace, 6> face;                      ///< by side
  std::array<std::array<std::uint8_t, 2>, 6> owner;  ///< piece of each face polygon
};

/// Reads a cube from a lattice with known nodes and edges; evaluates φ at the centre of ambiguous faces.
void gather_cube(const Lattice& lattice, const LatticePhi& phi, const Index& node, Vec3 low, Cube& cube);

/// Pieces of the cube. Every loop of wall segments is closed by a fan of triangles around a point that is moved onto
/// the wall along the loop's normal; volume and moments are those of the closed polyhedron (face polygons and
/// triangles), exact for planar walls. Closure of each piece: wall = Σ_high α e - Σ_low α e.
/// @param low  position of corner 0 in the lattice of phi
void cut_cube(const LatticePhi& phi, const Vec3& low, const Cube& cube, CubeCut& cut);

/// Corner of the cube at ring corner r of a side.
constexpr int side_corner(int side, int r) {
  const auto [u, v] = face_directions(direction_of(side));
  const int a = r == 1 || r == 2, b = r >= 2;
  return (a << u) + (b << v) + (is_high(side) << direction_of(side));
}

}  // namespace karst
