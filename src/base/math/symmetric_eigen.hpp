// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of symmetric 3 x 3 matrices.
#pragma once

#include <array>

#include "base/math/triple.hpp"

namespace karst {

using Matrix3 = std::array<Vec3, 3>;  ///< rows

struct SymmetricEigen {
  Vec3 value;                                                   ///< in no order
  Matrix3 vector{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};  ///< row i belongs to value[i]; orthonormal
};

/// By Jacobi rotations; both halves of m are used and must agree. Not collective.
SymmetricEigen symmetric_eigen(Matrix3 m);

}  // namespace karst
