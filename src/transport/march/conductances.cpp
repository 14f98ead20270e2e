// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/conductances.hpp"

#include <algorithm>

namespace karst {

Conductances make_conductances(const ScalarGrid& grid, double factor,
                               const std::function<bool(const ScalarFace& face, std::int64_t place)>& open) {
  Conductances g;
  g.factor = factor;
  g.listed = {grid.listed.size(), Purpose::stencils, 0.0};
  std::vector<double> of_face(grid.n_faces, 0.0);
  for (std::int64_t k = 0; k < std::ssize(grid.listed); ++k)
    if (open(grid.listed[k], k)) g.listed[k] = of_face[grid.listed[k].face] = factor * grid.conductance[k];
  for (const PlainVolumes& p : grid.plain)
    for (std::int32_t d = 0; d < 3; ++d)
      std::fill_n(of_face.begin() + d * grid.n_all + p.first, p.count, factor * grid.width(p.level));
  g.of_faces = {grid.volume_faces.size(), Purpose::stencils};
  for (std::size_t k = 0; k < g.of_faces.size(); ++k) g.of_faces[k] = of_face[grid.volume_faces[k].face()];
  g.sum = Array<double>(grid.n_own, Purpose::fields, 0.0);
  for (const PlainVolumes& p : grid.plain)
    std::fill_n(g.sum.begin() + p.first, p.count, 6.0 * factor * grid.width(p.level));
  for (std::int64_t i = 0; i < std::ssize(grid.special); ++i)
    for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k)
      g.sum[grid.special[i]] += g.of_faces[k];
  return g;
}

}  // namespace karst
