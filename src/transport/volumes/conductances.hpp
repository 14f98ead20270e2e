// SPDX-License-Identifier: BSD-3-Clause
// Two-point differences over the faces of a ScalarGrid: the flux through a face is g (x_left - x_right), g = factor x
// area / distance, in the low faces of plain volumes factor x their width.
#pragma once

#include <functional>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

struct Conductances {
  double factor = 0.0;
  Array<double> listed;    ///< g, parallel to grid.listed; 0 in closed faces
  Array<double> of_faces;  ///< the same, parallel to grid.volume_faces
  Array<double> sum;       ///< Σ g of each own volume

  std::int64_t bytes() const { return static_cast<std::int64_t>(listed.bytes() + of_faces.bytes() + sum.bytes()); }
};

/// @param open  (face, its index in grid.listed) -> whether the face is open. Threaded; not collective.
Conductances make_conductances(const ScalarGrid& grid, double factor,
                               const std::function<bool(const ScalarFace& face, std::int64_t place)>& open);

/// Calls f(C v + c, Σ g x of the volumes across the faces of v, k) for every own volume v and component c, k the result
/// of of(v); plain volumes of an interval share it. Threaded; f must write only data of the volume.
/// @param x  C n_values
template <int C, class Of, class F>
void for_sums_across(const ScalarGrid& grid, const Conductances& g, const double* x, Of&& of, F&& f) {
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double whole = g.factor * grid.width(p.level);
    std::array<const double*, 6> side;
    for (std::size_t s = 0; s < 6; ++s) side[s] = x + C * std::int64_t{p.beyond[s]};
    const auto [x0, x1, x2, x3, x4, x5] = side;
    const std::int64_t first = C * std::int64_t{p.first};
    const auto k = of(p.first);
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t)
      f(first + t, whole * (((x0[t] + x1[t]) + (x2[t] + x3[t])) + (x4[t] + x5[t])), k);
  });
  const double* const of_face = g.of_faces.data();
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    std::array<double, C> sum{};
    for (std::int64_t face = grid.special_begin[i]; face < grid.special_begin[i + 1]; ++face) {
      const double* const other = x + C * std::int64_t{grid.volume_faces[face].other()};
      for (int c = 0; c < C; ++c) sum[c] += of_face[face] * other[c];
    }
    const auto k = of(grid.special[i]);
    for (int c = 0; c < C; ++c) f(C * std::int64_t{grid.special[i]} + c, sum[c], k);
  });
}

}  // namespace karst
