// SPDX-License-Identifier: BSD-3-Clause
// What changes while the stencils of an EllipticOperator stay: the zeroth-order term, rates and values of the wall.
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

void EllipticOperator::set_shift(double a) {
  require(a >= 0.0, "elliptic problem: a = {}; it must not be negative", a);
  problem_.a = a;
  use_coefficients();
}

void EllipticOperator::use_coefficients() {
  wide_.set_coefficients(boundary_.coefficients(problem_.a));
  ++version_;
}

std::vector<EllipticOperator::RateAndValue> EllipticOperator::by_unknown(
    std::span<const std::vector<double>> rates, std::span<const std::vector<double>> values) const {
  std::vector<RateAndValue> result(static_cast<std::size_t>(numbering_.n_own()));
  for (std::size_t l = 0; l < geometry_->levels.size(); ++l) {
    const LevelGeometry& level = geometry_->levels[l];
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      auto row = static_cast<std::size_t>(level.moments_begin[static_cast<std::size_t>(b)]);
      for (std::size_t r = 0; r < static_cast<std::size_t>(graph.n_irregular); ++r, ++row)
        if (const auto n = numbering_.number(static_cast<int>(l), b, graph.row_vof[r]); n >= 0)
          result[static_cast<std::size_t>(n)] = {rates[l][row], values[l][row]};
    }
  }
  return result;
}

void EllipticOperator::set_wall(std::span<const std::vector<double>> rates,
                                std::span<const std::vector<double>> values) {
  require(first_wall_ != nullptr, "elliptic operator: values for a wall that was made without a condition");
  require(rates.size() == geometry_->levels.size() && values.size() == rates.size(),
          "elliptic operator: rates of {} and values of {} levels for {}; one list per level is needed", rates.size(),
          values.size(), geometry_->levels.size());
  bool fits = true;
  for (std::size_t l = 0; l < rates.size(); ++l) {
    const std::size_t n = geometry_->levels[l].moments.size();
    fits = fits && rates[l].size() == n && values[l].size() == n;
  }
  require(!comm_.any(!fits), "elliptic operator: rates and values of a wall need one number per irregular VoF");
  const std::vector<RateAndValue> own = by_unknown(rates, values);
  foreign_.begin(own);
  foreign_.finish();
  const auto given = [&](const WallTerm& t) {
    return numbering_.is_own(t.unknown) ? own[static_cast<std::size_t>(t.unknown - numbering_.first())]
                                        : foreign_.values()[static_cast<std::size_t>(foreign_.place(t.unknown))];
  };
  double least = 0.0;
  for (const RobinWall& wall : boundary_.robin) least = std::min(least, given(boundary_.walls[wall.term]).rate);
  require_rate(comm_.min(least));
  for (RobinWall& wall : boundary_.robin) wall.rate = given(boundary_.walls[wall.term]).rate;
  wall_values_.resize(boundary_.walls.size());
  for (std::size_t t = 0; t < boundary_.walls.size(); ++t) wall_values_[t] = given(boundary_.walls[t]).value;
  struct Given {
    std::vector<std::vector<double>> rates, values;
  };
  const auto now = std::make_shared<const Given>(Given{{rates.begin(), rates.end()}, {values.begin(), values.end()}});
  problem_.wall = [first = first_wall_, now](const WallPiece& piece) {
    Condition c = first(piece);
    if (piece.row < 0) return c;
    const auto l = static_cast<std::size_t>(piece.level), r = static_cast<std::size_t>(piece.row);
    c.value = now->values[l][r];
    if (c.kind == BoundaryKind::robin) c.rate = now->rates[l][r];
    return c;
  };
  use_coefficients();
}

}  // namespace karst
