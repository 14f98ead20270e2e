// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/file/end_planes.hpp"

#include <algorithm>
#include <cmath>

namespace karst {
namespace {

constexpr int planes_at_end = 4;

/// Pore (1) or solid (0) of the voxels of a plane across an axis.
std::vector<std::uint8_t> pore_of_plane(const GeometryFile& image, int axis, int plane) {
  Index lo, size = image.info().voxels;
  lo[axis] = plane;
  size[axis] = 1;
  std::vector<std::uint8_t> pore(std::int64_t{size[0]} * size[1] * size[2]);
  image.read_phase(lo, size, pore.data());
  std::ranges::transform(pore, pore.begin(), [](std::uint8_t phase) { return phase == 0 ? 1 : 0; });
  return pore;
}

double share_that_differs(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::int64_t n = 0;
  for (std::size_t v = 0; v < a.size(); ++v) n += a[v] != b[v] ? 1 : 0;
  return static_cast<double>(n) / static_cast<double>(a.size());
}

double porosity_of(const std::vector<std::uint8_t>& pore) {
  return static_cast<double>(std::ranges::count(pore, 1)) / static_cast<double>(pore.size());
}

}  // namespace

EndPlanes compare_ends(const GeometryFile& image, int axis) {
  const int n = image.info().voxels[axis];
  EndPlanes result;
  if (n < 2) return result;
  const int depth = std::min(planes_at_end, n);
  std::vector<std::vector<std::uint8_t>> ends;
  for (const bool high : {false, true}) {
    std::vector<std::uint8_t> before = pore_of_plane(image, axis, high ? n - 1 : 0);
    ends.push_back(before);
    for (int i = 1; i < depth; ++i) {
      std::vector<std::uint8_t> plane = pore_of_plane(image, axis, high ? n - 1 - i : i);
      result.inside += share_that_differs(before, plane) / (2 * (depth - 1));
      before = std::move(plane);
    }
  }
  const double a = porosity_of(ends[0]), b = porosity_of(ends[1]);
  result.differ = share_that_differs(ends[0], ends[1]);
  result.unrelated = a * (1 - b) + b * (1 - a);
  return result;
}

bool ends_match(const EndPlanes& p) {
  constexpr double few = 0.01, more = 1.5;
  return p.differ <= std::max({few, more * p.inside, std::sqrt(p.inside * p.unrelated)});
}

}  // namespace karst
