// SPDX-License-Identifier: BSD-3-Clause
#include "transport/volumes/conductances.hpp"

#include <algorithm>

namespace karst {

Conductances make_conductances(const ScalarGrid& grid, double factor,
                               const std::function<bool(const ScalarFace& face, std::int64_t place)>& open) {
  Conductances g;
  g.factor = factor;
  g.listed = {grid.listed.size(), Purpose::stencils};
  Array<double> of_face(grid.n_faces, Purpose::buffers);  // set where a face exists
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes& p = grid.plain[i];
    for (std::int32_t d = 0; d < 3; ++d)
      std::fill_n(of_face.begin() + d * grid.n_all + p.first, p.count, factor * grid.width(p.level));
  });
  parallel_for(std::ssize(grid.listed), [&](std::int64_t k) {
    const ScalarFace& f = grid.listed[k];
    g.listed[k] = of_face[f.face] = open(f, k) ? factor * grid.conductance[k] : 0.0;
  });
  g.of_faces = {grid.volume_faces.size(), Purpose::stencils};
  parallel_for(std::ssize(grid.volume_faces),
               [&](std::int64_t k) { g.of_faces[k] = of_face[grid.volume_faces[k].face()]; });
  g.sum = Array<double>(grid.n_own, Purpose::fields);
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes& p = grid.plain[i];
    std::fill_n(g.sum.begin() + p.first, p.count, 6.0 * factor * grid.width(p.level));
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    double sum = 0.0;
    for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) sum += g.of_faces[k];
    g.sum[grid.special[i]] = sum;
  });
  return g;
}

}  // namespace karst
