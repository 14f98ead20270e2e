// SPDX-License-Identifier: BSD-3-Clause
// The value of a field at a point, from values at points around it.
#pragma once

#include <span>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// Weights w of the value at the origin, Σ w_i f(x_i): those with the smallest Σ w_i² (|x_i|² + 1/4) that are exact for
/// every quadratic polynomial, or for as many of 1, x, y, z, x², y², z², xy, yz, zx, in this order, as the points
/// determine. This is the value of the least-squares polynomial. Empty without points.
/// @param points  in widths of the cell that contains the origin
std::vector<double> point_weights(std::span<const Vec3> points);

}  // namespace karst
