// SPDX-License-Identifier: BSD-3-Clause
// The elliptic problem:  a φ - ∇·(β ∇φ) = f  in the fluid, one condition on each side of the domain and one on the
// wall. The control-volume form, in the sign that makes it positive:
//
//   (A φ)_v = a κ_v V φ_v - Σ_faces β ∂φ/∂n area          n out of the VoF
//
// All quantities are dimensionless: lengths are in units of the level-0 cell width h0, so the cells of level l are 2^-l
// wide. A caller with SI units converts a, β and the conditions to these units (a h0², β, value h0, rate h0).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/math/triple.hpp"
#include "eb/geometry.hpp"
#include "fields/wall_parts.hpp"
#include "grid/field.hpp"

namespace karst {

enum class BoundaryKind : std::uint8_t { dirichlet, neumann, robin };

/// The condition at one point of a boundary; ∂φ/∂n out of the fluid.
///   dirichlet: φ = value    neumann: β ∂φ/∂n = value    robin: β ∂φ/∂n + rate φ = value, rate >= 0
struct Condition {
  BoundaryKind kind = BoundaryKind::neumann;
  double value = 0.0;
  double rate = 0.0;
};

inline Condition dirichlet(double value) { return {BoundaryKind::dirichlet, value, 0.0}; }
inline Condition neumann(double value) { return {BoundaryKind::neumann, value, 0.0}; }
inline Condition robin(double rate, double value) { return {BoundaryKind::robin, value, rate}; }

/// Condition at a position, in units of h0 from the low corner of the domain. Empty: Neumann 0. Called from several
/// threads.
using ConditionAt = std::function<Condition(const Vec3& x)>;

/// The wall of one VoF, for which a condition is evaluated.
struct WallPiece {
  Vec3 position;          ///< position of the condition, in units of h0: the centroid, or where a row meets the wall
  Vec3 normal;            ///< mean of the piece, into the fluid; 0 where walls facing each other cancel
  double area = 0.0;      ///< in h0²
  int level = 0;          ///< of the grid
  std::int64_t row = -1;  ///< index in LevelGeometry::moments; -1: the VoF of another rank
  WallParts parts;        ///< minerals of the solid behind it, wherever the VoF lives; see for_each_mineral()
  /// A condition that depends only on the position may be a function of a Vec3.
  operator const Vec3&() const { return position; }
};
using WallConditionAt = std::function<Condition(const WallPiece& piece)>;

/// Calls f(mineral, fraction of the area) for the minerals of a piece, in the order of their numbers.
template <class F>
void for_each_mineral(const WallPiece& piece, F&& f) {
  if (piece.parts.mixed.empty()) return f(piece.parts.mineral, 1.0);
  double area = 0.0;
  for (const MixedWall& part : piece.parts.mixed) area += part.area;
  for (const MixedWall& part : piece.parts.mixed) f(part.mineral, part.area / area);
}

/// A condition per mineral, by number (GeometryReport::minerals). The parts of a piece, f_m of its area, share one
/// value φ at one distance, so their fluxes add up to
///
///   β ∂φ/∂n + Σ f_m rate_m φ = Σ f_m value_m:
///
/// rates and values are means weighted by area; Neumann conditions have the rate 0, Dirichlet ones the mean value.
/// Throws Error for a wrong number of conditions, and if some but not all are Dirichlet. Not collective.
WallConditionAt by_mineral(const Geometry& geometry, std::vector<Condition> conditions);

/// The equation. Kinds and rates determine the operator, values only the right-hand side.
struct EllipticProblem {
  double a = 0.0;     ///< >= 0
  double beta = 1.0;  ///< > 0; not used where face_beta is given
  /// β on the faces, one face field (three components) per level on the graph of the level, high domain faces in the
  /// ghost slots, halo VoFs filled; empty: constant. The fields must outlive the operator.
  std::span<const Field> face_beta;
  std::array<ConditionAt, 6> sides;  ///< -x +x -y +y -z +z; unused where the domain is periodic
  WallConditionAt wall;
};

}  // namespace karst
