// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_problem.hpp"

#include "base/core/error.hpp"

namespace karst {

WallConditionAt by_mineral(const Geometry& geometry, std::vector<Condition> conditions) {
  const std::size_t n = geometry.report.minerals.size();
  require(conditions.size() == n, "conditions of the wall: {} for {} minerals; one per mineral is needed",
          conditions.size(), n);
  const auto fixed = std::ranges::count(conditions, BoundaryKind::dirichlet, &Condition::kind);
  require(fixed == 0 || fixed == std::ssize(conditions),
          "conditions of the wall: {} of {} minerals have Dirichlet conditions; all or none must have, because several "
          "minerals may share a piece of wall",
          fixed, conditions.size());
  return [of = std::move(conditions)](const WallPiece& piece) {
    Condition mean = neumann(0.0);
    for_each_mineral(piece, [&](MineralNumber mineral, double fraction) {
      const Condition& c = of[mineral];
      if (c.kind != BoundaryKind::neumann) mean.kind = c.kind;
      mean.value += fraction * c.value;
      if (c.kind == BoundaryKind::robin) mean.rate += fraction * c.rate;
    });
    return mean;
  };
}

}  // namespace karst
