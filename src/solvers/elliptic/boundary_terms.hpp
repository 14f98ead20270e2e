// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "solvers/elliptic/row_maker.hpp"
#include "solvers/elliptic/wide_rows.hpp"

namespace karst {

/// What boundary conditions mean for stored rows: the terms of their values, and the coefficients that rates make.
struct BoundaryTerms {
  std::vector<SideTerm> sides;
  std::vector<WallTerm> walls;
  std::vector<RobinWall> robin;  ///< without their stencils; wall i makes coefficient 1 + i

  /// Takes over what boundary conditions add to a row; returns the rest. Coefficient 0 multiplies its volumes.
  WideRow take(Row&& row);
  /// The same without the rest.
  void append(const Row& row);
  /// Coefficients of the rows; the weights of walls with rates become those of the present rates.
  void coefficients(double a, std::vector<double>& result);
  /// b_row += factor x Σ weight value. Threaded.
  void add_values(const std::function<double(const SideTerm&)>& side_value,
                  const std::function<double(std::size_t wall)>& wall_value, double factor, std::span<double> b) const;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(SideTerm) * sides.size() + sizeof(WallTerm) * walls.size() +
                                     sizeof(RobinWall) * robin.size());
  }
};

}  // namespace karst
