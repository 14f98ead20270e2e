// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_area.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/math/triple.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// Corner c of the unit cube: bit 0 x, bit 1 y, bit 2 z.
Vec3 corner(int c) { return Vec3(c & 1, c >> 1 & 1, c >> 2 & 1); }

/// Tetrahedra about the diagonal from corner 0 to corner 7: one per order of the axes.
constexpr std::array<std::array<int, 2>, 6> between{{{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}}};

double triangle_area(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = b - a, v = c - a;
  const Vec3 n(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
  return 0.5 * std::sqrt(dot(n, n));
}

/// Where φ = 0 on the lines between corners of different sign, which many tetrahedra share: 8 inner + outer.
using Crossings = std::array<Vec3, 64>;

void find_crossings(const std::array<float, 8>& phi, Crossings& all) {
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) {
      if (!(phi[a] > 0) || phi[b] > 0) continue;
      const double fa = phi[a], fb = phi[b];
      all[8 * a + b] = corner(a) + (corner(b) - corner(a)) * (fa / (fa - fb));
    }
}

double area_in_tetrahedron(const std::array<int, 4>& corners, const std::array<float, 8>& phi, const Crossings& all) {
  std::array<int, 4> in{}, out{};
  std::size_t n_in = 0, n_out = 0;
  for (const int c : corners) (phi[c] > 0 ? in[n_in++] : out[n_out++]) = c;
  const auto crossing = [&](int a, int b) { return all[8 * a + b]; };
  if (n_in == 1) return triangle_area(crossing(in[0], out[0]), crossing(in[0], out[1]), crossing(in[0], out[2]));
  if (n_out == 1) return triangle_area(crossing(in[0], out[0]), crossing(in[1], out[0]), crossing(in[2], out[0]));
  if (n_in != 2) return 0;
  const Vec3 a = crossing(in[0], out[0]), b = crossing(in[0], out[1]), c = crossing(in[1], out[1]),
             d = crossing(in[1], out[0]);
  return triangle_area(a, b, c) + triangle_area(a, c, d);
}

double area_in_cube(const std::array<float, 8>& phi) {
  Crossings crossings;
  find_crossings(phi, crossings);
  double area = 0;
  for (const int start : {0, 1, 2, 4})  // mirrored: the same about another diagonal
    for (const auto& [second, third] : between)
      area += area_in_tetrahedron({start, start ^ second, start ^ third, start ^ 7}, phi, crossings);
  return area / 4;
}

}  // namespace

double wall_area(const ImageWindow& window, std::span<const float> phi, int first, int last,
                 std::span<const std::uint8_t> inside) {
  const int nx = window.image[0], ny = window.image[1], nz = window.image[2];
  const int begin = first == 0 ? -1 : first;  // cubes from half a voxel before the first centre on
  const std::int64_t rows = std::int64_t{ny + 1} * (last - begin);
  return parallel_sum(rows, [&](std::int64_t r) {
    const int y = static_cast<int>(r % (ny + 1)) - 1, z = begin + static_cast<int>(r / (ny + 1));
    std::array<const float*, 4> line;
    for (int m = 0; m < 4; ++m)
      line[m] = phi.data() + window.start_of(std::clamp(z + m / 2, 0, nz - 1)) +
                std::int64_t{std::clamp(y + m % 2, 0, ny - 1)} * nx;
    const double weight = (y < 0 || y + 1 == ny ? 0.5 : 1.0) * (z < 0 || z + 1 == nz ? 0.5 : 1.0);
    double area = 0;
    for (int x = -1; x < nx; ++x) {
      const int low = std::max(x, 0), high = std::min(x + 1, nx - 1);
      std::array<float, 8> corners;
      int positive = 0;
      for (int c = 0; c < 8; ++c) positive += (corners[c] = line[c / 2][c % 2 ? high : low]) > 0;
      if (positive == 0 || positive == 8) continue;
      bool counts = true;
      for (int c = 0; c < 4 && !inside.empty(); ++c)
        counts = counts && inside[std::int64_t{std::clamp(y + c / 2, 0, ny - 1)} * nx + (c % 2 ? high : low)] != 0;
      if (counts) area += (x < 0 || x + 1 == nx ? 0.5 : 1.0) * area_in_cube(corners);
    }
    return weight * area;
  });
}

}  // namespace karst
