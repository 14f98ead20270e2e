// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/flow_volumes.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

Array<float> flow_volumes(const StokesLevels& op, const Geometry& geometry) {
  Array<float> volume(op.n_vofs(), Purpose::solver);
  op.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    const double whole = std::pow(StokesLevels::width(l), 3);
    const LevelGeometry& level = geometry.levels[l];
    const BoxGraph graph = level.graph.box(b);
    float* to = volume.data() + first;
    std::fill_n(to, n, static_cast<float>(whole));
    const auto moments = level.box(b).moments;
    for (std::size_t r = 0; r < moments.size(); ++r)
      to[graph.row_vof[r]] = static_cast<float>(whole * moments[r].kappa);
    for (const auto& without : {op.level(l).rows().still_in(b), op.level(l).covered_in(b)})
      for (const std::uint16_t v : without) to[v] = 0.0F;
  });
  return volume;
}

}  // namespace karst
