// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "solvers/elliptic/row_maker.hpp"
#include "solvers/elliptic/wide_rows.hpp"

namespace karst {

/// A wall term as it is kept: what else is known of its piece stands in the geometry.
struct KeptWall {
  std::int32_t row;
  std::int32_t place;  ///< of its VoF among the irregular ones of all levels; ~i: BoundaryTerms::foreign[i]
  double weight;
  Vec3 position;  ///< of WallPiece
};

/// The piece of wall of a VoF of another rank.
struct ForeignWall {
  GlobalNumber unknown;
  WallPiece piece;
};

/// What boundary conditions mean for stored rows: the terms of their values, and the coefficients that rates make.
/// Geometries in arguments are the one whose rows these are.
struct BoundaryTerms {
  std::vector<SideTerm> sides;
  std::vector<KeptWall> walls;
  std::vector<ForeignWall> foreign;
  std::vector<RobinWall> robin;  ///< without their stencils; wall i makes coefficient 1 + i

  /// Takes over what boundary conditions add to a row; returns the rest. Coefficient 0 multiplies its volumes.
  WideRow take(Row&& row, const Geometry& geometry);
  /// The same without the rest.
  void append(const Row& row, const Geometry& geometry);
  /// Those of other rows, which stand behind `first_row` here; their walls with rates move up by as many.
  void append(BoundaryTerms&& others, std::int32_t first_row);
  WallPiece piece(const KeptWall& wall, const Geometry& geometry) const;
  /// Coefficients of the rows; the weights of walls with rates become those of the present rates.
  void coefficients(double a, std::vector<double>& result);
  /// b_row += factor x Σ weight value. Threaded.
  void add_values(const std::function<double(const SideTerm&)>& side_value,
                  const std::function<double(std::size_t wall)>& wall_value, double factor, std::span<double> b) const;
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(SideTerm) * sides.size() + sizeof(KeptWall) * walls.size() +
                                     sizeof(ForeignWall) * foreign.size() + sizeof(RobinWall) * robin.size());
  }
};

}  // namespace karst
