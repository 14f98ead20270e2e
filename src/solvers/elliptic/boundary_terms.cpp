// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/boundary_terms.hpp"

#include "base/parallel.hpp"

namespace karst {

WideRow BoundaryTerms::take(Row&& row) {
  WideRow wide{row.number, std::move(row.stencil), {}};
  for (const StencilTerm& t : row.volume.terms) wide.varying.push_back({t.unknown, 0, t.weight});
  auto coefficient = static_cast<std::int32_t>(1 + robin.size());
  for (RobinWall& wall : row.robin) {
    wall.value_at_wall.merge();
    for (const StencilTerm& t : wall.value_at_wall.terms) wide.varying.push_back({t.unknown, coefficient, t.weight});
    ++coefficient;
  }
  append(row);
  return wide;
}

void BoundaryTerms::append(const Row& row) {
  for (const RobinWall& wall : row.robin)
    robin.push_back({wall.term + walls.size(), wall.area, wall.exchange, wall.rate, {}});
  sides.insert(sides.end(), row.sides.begin(), row.sides.end());
  walls.insert(walls.end(), row.walls.begin(), row.walls.end());
}

void BoundaryTerms::coefficients(double a, std::vector<double>& result) {
  result.assign(1, a);
  for (const RobinWall& wall : robin) {
    walls[wall.term].weight = wall.damped_area();
    result.push_back(wall.damped_area() * wall.rate);
  }
}

void BoundaryTerms::add_values(const std::function<double(const SideTerm&)>& side_value,
                               const std::function<double(std::size_t wall)>& wall_value, double factor,
                               std::span<double> b) const {
  const auto add = [&](const auto& terms, const auto& value) {
    std::vector<double> term(terms.size());
    parallel_for(std::ssize(terms), [&](std::int64_t i) {
      const auto t = static_cast<std::size_t>(i);
      term[t] = factor * terms[t].weight * value(t);
    });
    for (std::size_t t = 0; t < terms.size(); ++t) b[terms[t].row] += term[t];
  };
  add(sides, [&](std::size_t t) { return side_value(sides[t]); });
  add(walls, wall_value);
}

}  // namespace karst
