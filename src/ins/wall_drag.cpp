// SPDX-License-Identifier: BSD-3-Clause
#include "ins/wall_drag.hpp"

#include <algorithm>

#include "ins/flow_kernels.hpp"

namespace karst {
namespace {

constexpr double least_distance = 0.02;  ///< of a cell centre to its wall [cells]

/// ∂u/∂n on the wall, from the parabolas of the momentum row along the grid lines that meet it: they know how the wall
/// bends. Along such a line u' = (∂u/∂n) n·e on the wall; the lines count by (n·e)².
Vec3 wall_slope(const Quad* x, const FlowRow& row, const Vec3& normal, double fallback_distance) {
  constexpr double least_theta = 1e-2;  // as in the momentum rows
  Vec3 sum;
  double squares = 0.0;
  const Quad& here = x[row.vof];
  for (int side = 0; side < 6; ++side) {
    const auto s = static_cast<std::size_t>(side), across = static_cast<std::size_t>(opposite(side));
    const double against = is_high(side) ? -normal[direction_of(side)] : normal[direction_of(side)];
    if (row.area[s] > 0.0F || against <= 0.0) continue;
    const double theta = std::max(double{row.theta[s]}, least_theta);
    const double other = std::max(double{row.theta[across]}, least_theta);
    for (std::size_t c = 0; c < 3; ++c) {
      const double beyond = row.area[across] > 0.0F ? x[row.slot[across]].v[c] : 0.0;
      const double second = 2.0 / (theta + other) * ((beyond - here.v[c]) / other - here.v[c] / theta);
      sum.v[c] += against * (here.v[c] / theta - 0.5 * second * theta);
    }
    squares += against * against;
  }
  if (squares > 0.1) return (1.0 / squares) * sum;
  return (1.0 / fallback_distance) * Vec3{here.v[0], here.v[1], here.v[2]};
}

/// What the wall of one flow cell takes.
void add_wall(const Quad* x, const FlowRow& row, const VofMoments& m, const Vec3& force, WallDrag& sum) {
  const double length = norm(m.wall);
  if (length == 0.0) return;
  const Vec3 normal = (1.0 / length) * m.wall;
  const kernels::Four gradient = kernels::row_gradient(x, row, force);
  double pressure = x[row.vof].v[kernels::p];
  for (int d = 0; d < 3; ++d) pressure += (gradient[static_cast<std::size_t>(d)] + force[d]) * m.wall_centroid[d];
  sum.pressure -= pressure * m.wall;
  sum.viscous += length * wall_slope(x, row, normal, std::max(-dot(normal, m.wall_centroid), least_distance));
}

}  // namespace

WallDrag wall_drag(StokesOperator& op, const Vec3& force) {
  const LevelGeometry& geometry = op.geometry();
  WallDrag sum;
  double volume = 0.0;
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph graph = geometry.graph.box(b);
    const auto moments = geometry.box(b).moments;
    const auto irregular = graph.row_vof.first(static_cast<std::size_t>(graph.n_irregular));
    volume += graph.n_own - graph.n_irregular;
    for (const VofMoments& m : moments) volume += m.kappa;
    for (const FlowRow& row : op.rows().of(b)) {
      const auto at = std::ranges::lower_bound(irregular, row.vof);
      if (at == irregular.end() || *at != row.vof) continue;
      add_wall(op.values().box(b).data(), row, moments[static_cast<std::size_t>(at - irregular.begin())], force, sum);
    }
  }
  std::array<double, 7> all{sum.pressure[0], sum.pressure[1], sum.pressure[2], sum.viscous[0],
                            sum.viscous[1],  sum.viscous[2],  volume};
  op.comm().sum(std::span(all));
  return {{all[0], all[1], all[2]}, {all[3], all[4], all[5]}, all[6] * force};
}

}  // namespace karst
