// SPDX-License-Identifier: BSD-3-Clause
// What changes while the stencils of an EllipticOperator stay: the zeroth-order term, rates and values of the wall.
#include <algorithm>
#include <memory>
#include <numeric>

#include "base/core/error.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

void EllipticOperator::set_shift(double a) {
  require(a >= 0.0, "elliptic problem: a = {}; it must not be negative", a);
  problem_.a = a;
  use_coefficients();
}

void EllipticOperator::use_coefficients() {
  boundary_.coefficients(problem_.a, coefficients_);
  wide_.set_coefficients(coefficients_);
  ++version_;
}

/// Which pieces of wall other ranks ask for, by the unknown of their VoF.
void EllipticOperator::list_asked_walls() {
  const auto& asked = foreign_.exchange().sent();
  std::vector<std::size_t> order(asked.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return asked[i]; });
  asked_walls_.resize(asked.size());
  auto next = order.begin();
  for (const LevelGeometry& level : geometry_->levels)
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      std::int64_t row = level.moments_begin[b];
      for (int r = 0; r < graph.n_irregular; ++r, ++row)
        for (; next != order.end() && asked[*next] == numbering_.number(level.level, b, graph.row_vof[r]); ++next)
          asked_walls_[*next] = {level.level, row};
    }
}

void EllipticOperator::set_wall(const WallField& rates, const WallField& values) {
  require(first_wall_ != nullptr, "elliptic operator: values for a wall that was made without a condition");
  require(rates.composite() == composite_ && values.composite() == composite_,
          "elliptic operator: rates and values of a wall are on another grid; make them on composite()");
  if (!wall_) {
    list_asked_walls();
    wall_ = std::make_shared<WallField>(composite_, 2, Purpose::solver);
    problem_.wall = [first = first_wall_, now = std::shared_ptr<const WallField>(wall_)](const WallPiece& piece) {
      Condition c = first(piece);
      if (piece.row < 0) return c;
      const std::size_t row = piece.row;
      if (c.kind == BoundaryKind::robin) c.rate = now->level(piece.level, 0)[row];
      c.value = now->level(piece.level, 1)[row];
      return c;
    };
  }
  const auto at = [](const WallField& field, int level, std::int64_t row) { return field.level(level)[row]; };
  foreign_.begin_each([&](std::size_t i) {
    const auto& [level, row] = asked_walls_[i];
    return RateAndValue{at(rates, level, row), at(values, level, row)};
  });
  foreign_.finish();
  const auto given = [&](const KeptWall& t) {
    if (t.place < 0) return foreign_.values()[foreign_.place(boundary_.foreign[~t.place].unknown)];
    const WallPiece piece = boundary_.piece(t, *geometry_);
    return RateAndValue{at(rates, piece.level, piece.row), at(values, piece.level, piece.row)};
  };
  double least = 0.0;
  for (const RobinWall& wall : boundary_.robin) least = std::min(least, given(boundary_.walls[wall.term]).rate);
  require_rate(comm_.min(least));
  for (RobinWall& wall : boundary_.robin) wall.rate = given(boundary_.walls[wall.term]).rate;
  wall_values_.resize(boundary_.walls.size());
  for (std::size_t t = 0; t < boundary_.walls.size(); ++t) wall_values_[t] = given(boundary_.walls[t]).value;
  for (int l = 0; l < wall_->n_levels(); ++l) {
    std::ranges::copy(rates.level(l), wall_->level(l, 0).begin());
    std::ranges::copy(values.level(l), wall_->level(l, 1).begin());
  }
  use_coefficients();
}

}  // namespace karst
