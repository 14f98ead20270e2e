// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/wall_minerals.hpp"

#include <algorithm>

namespace karst {

namespace {

/// Parts of an edge of a triangle, in cells on no sub-lattice (docs/decisions/026).
constexpr int parts_of_edge = 2;

/// Counts a triangle as n² equal ones, at their centroids. They are the same ones whatever corner is the first.
void add_triangle(const LatticePhi& phi, const Vec3& low, const WallTriangle& triangle, int n, double area,
                  std::span<double> areas) {
  const auto& [a, b, c] = triangle.corner;
  const Vec3 ab = (1.0 / n) * (b - a), ac = (1.0 / n) * (c - a);
  const double part = area / (n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; i + j < n; ++j) {
      phi.add_wall(low + a + (i + 1.0 / 3) * ab + (j + 1.0 / 3) * ac, part, areas);
      if (i + j + 1 < n) phi.add_wall(low + a + (i + 2.0 / 3) * ab + (j + 2.0 / 3) * ac, part, areas);
    }
}

}  // namespace

void add_minerals(const LatticePhi& phi, const Vec3& low, const CubeCut& cut, int piece, double scale,
                  std::span<double> areas) {
  const MineralNumber only = phi.only_mineral(low, low + Vec3::all(1.0));
  if (only != no_mineral) {
    areas[only] += scale * cut.piece[piece].wall_area;
    return;
  }
  const int n = std::max(1, parts_of_edge >> phi.depth());
  for (int t = 0; t < cut.n_triangles; ++t) {
    const WallTriangle& triangle = cut.triangle[t];
    if (triangle.piece == piece) add_triangle(phi, low, triangle, n, scale * triangle.area, areas);
  }
}

}  // namespace karst
