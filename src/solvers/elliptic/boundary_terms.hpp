// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "solvers/elliptic/row_maker.hpp"
#include "solvers/elliptic/wide_rows.hpp"

namespace karst {

/// A stored wall term; all other data of its piece are in the geometry.
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

/// Boundary conditions of stored rows: the terms of their values, and the coefficients of rates. Geometries in
/// arguments must be that of these rows.
struct BoundaryTerms {
  std::vector<SideTerm> sides;
  std::vector<KeptWall> walls;
  std::vector<ForeignWall> foreign;
  std::vector<RobinWall> robin;  ///< without their stencils; wall i makes coefficient 1 + i

  /// How many there are, or where those of some rows begin and end.
  struct Sizes {
    std::int64_t sides = 0, walls = 0, robin = 0;
  };
  Sizes sizes() const { return {std::ssize(sides), std::ssize(walls), std::ssize(robin)}; }

  /// Appends the boundary terms of a row to this object, and what remains to `rows`. Coefficient 0 multiplies its
  /// volumes.
  void append(Row& row, const Geometry& geometry, RowLists& rows);
  /// The same without what remains.
  void append(const Row& row, const Geometry& geometry);
  /// Appends the terms of other rows, and shifts the coefficients in what remains of them accordingly.
  void append(BoundaryTerms&& others, RowLists& rows);
  /// Appends the terms of other rows, whose first row is `first_row` here; the numbers of their walls with rates are
  /// shifted accordingly.
  void append(BoundaryTerms&& others, std::int32_t first_row);
  WallPiece piece(const KeptWall& wall, const Geometry& geometry) const;
  /// Coefficients of the rows; the weights of walls with rates are updated to the current rates.
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
