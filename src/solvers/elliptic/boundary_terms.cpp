// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/boundary_terms.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"

namespace karst {

namespace {

/// Of a row of a level among those of all levels.
std::int32_t place_of(const WallPiece& piece, const Geometry& geometry) {
  std::int64_t place = piece.row;
  for (int l = 0; l < piece.level; ++l) place += std::ssize(geometry.levels[l].moments);
  require(place < std::numeric_limits<std::int32_t>::max(),
          "operator: more than 2^31 irregular VoFs on one rank; use more ranks");
  return static_cast<std::int32_t>(place);
}

}  // namespace

void BoundaryTerms::append(Row& row, const Geometry& geometry, RowLists& rows) {
  rows.terms.insert(rows.terms.end(), row.stencil.terms.begin(), row.stencil.terms.end());
  for (const StencilTerm& t : row.volume.terms) rows.varying.push_back({t.unknown, 0, t.weight});
  auto coefficient = static_cast<std::int32_t>(1 + robin.size());
  for (RobinWall& wall : row.robin) {
    wall.value_at_wall.merge();
    for (const StencilTerm& t : wall.value_at_wall.terms) rows.varying.push_back({t.unknown, coefficient, t.weight});
    ++coefficient;
  }
  rows.end_row(row.number);
  append(row, geometry);
}

void BoundaryTerms::append(BoundaryTerms&& others, RowLists& rows) {
  for (VaryingTerm& t : rows.varying)
    if (t.coefficient > 0) t.coefficient += static_cast<std::int32_t>(robin.size());
  append(std::move(others), 0);
}

void BoundaryTerms::append(const Row& row, const Geometry& geometry) {
  for (const RobinWall& wall : row.robin)
    robin.push_back({wall.term + walls.size(), wall.area, wall.exchange, wall.rate, {}});
  sides.insert(sides.end(), row.sides.begin(), row.sides.end());
  for (const WallTerm& t : row.walls) {
    std::int32_t place = ~static_cast<std::int32_t>(foreign.size());
    if (t.piece.row >= 0)
      place = place_of(t.piece, geometry);
    else
      foreign.push_back({t.unknown, t.piece});
    walls.push_back({t.row, place, t.weight, t.piece.position});
  }
}

void BoundaryTerms::append(BoundaryTerms&& others, std::int32_t first_row) {
  for (RobinWall& wall : others.robin) wall.term += walls.size();
  for (SideTerm& t : others.sides) t.row += first_row;
  for (KeptWall& t : others.walls) {
    t.row += first_row;
    if (t.place < 0) t.place -= static_cast<std::int32_t>(foreign.size());
  }
  std::ranges::move(others.sides, std::back_inserter(sides));
  std::ranges::move(others.walls, std::back_inserter(walls));
  std::ranges::move(others.foreign, std::back_inserter(foreign));
  std::ranges::move(others.robin, std::back_inserter(robin));
}

WallPiece BoundaryTerms::piece(const KeptWall& wall, const Geometry& geometry) const {
  if (wall.place < 0) {
    WallPiece piece = foreign[~wall.place].piece;
    piece.position = wall.position;
    return piece;
  }
  std::int64_t row = wall.place;
  int l = 0;
  for (; row >= std::ssize(geometry.levels[l].moments); ++l) row -= std::ssize(geometry.levels[l].moments);
  const LevelGeometry& level = geometry.levels[l];
  return wall_piece(level.moments[row], l, row, wall_parts(level, row), wall.position);
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
    parallel_for(std::ssize(terms), [&](std::int64_t t) { term[t] = factor * terms[t].weight * value(t); });
    for (std::size_t t = 0; t < terms.size(); ++t) b[terms[t].row] += term[t];
  };
  add(sides, [&](std::size_t t) { return side_value(sides[t]); });
  add(walls, wall_value);
}

}  // namespace karst
