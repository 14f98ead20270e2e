// SPDX-License-Identifier: BSD-3-Clause
// Feet of corners near a moving wall: the nearest points of the wall, by Newton's method on quadratic interpolations of
// p at the corner nearest to the iterate (after Chopp, SIAM J. Sci. Comput. 23 (2001) 230):
//
//   y <- y - p ∇p / |∇p|² + (x - y) - ((x - y)·∇p) ∇p / |∇p|²
//
// Lengths and p are in units of the spacing of the corners here, positions in corners. No communication.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "grid/box.hpp"

namespace karst {

/// Values at the corners of a block, x fastest.
struct CornerValues {
  Box box;
  std::span<const double> values;

  std::int64_t stride(int d) const {
    return d == 0 ? 1 : d == 1 ? box.size(0) : std::int64_t{box.size(0)} * box.size(1);
  }
  const double* at(const Index& corner) const { return values.data() + box.offset(corner); }
};

/// A value, its gradient and its second derivatives.
struct Taylor {
  double value;
  Vec3 slope;
  std::array<Vec3, 3> curvature;
};

/// Of the quadratic polynomial through the 19 corners around the one nearest to x: third order.
Taylor quadratic_at(const CornerValues& f, const Vec3& x);
/// Largest of its second derivatives.
double bend(const Taylor& f);

constexpr double flat_p = 1e-8;  ///< |∇p|² that says nothing about a direction

struct Foot {
  Index corner;
  std::uint8_t steps;  ///< of the corner from the wall
  bool found;          ///< otherwise `at` is the place where the search began
  bool hidden;         ///< there is no wall between corners here, but one may hide
  Vec3 at;
  double distance;
  double slope;  ///< |∇p| at the foot
  double bend;   ///< of p there
};

/// The search for the foot of a corner as it begins.
Foot foot_to_be_found(const Index& corner, std::uint8_t steps, bool hidden, const Vec3& begin);

/// Finds those that are not hidden, eight side by side. The result of one does not depend on the others.
/// @param p             at the corners within a step of the wall, and at those around these
/// @param[in,out] feet  as they begin
void find_feet(const CornerValues& p, std::span<Foot> feet);

}  // namespace karst
