// SPDX-License-Identifier: BSD-3-Clause
// Systems of a dozen equations, solved in place without allocation.
#pragma once

#include <vector>

namespace karst {

/// Gaussian elimination with row exchanges: matrix x = right; x takes the place of right. False when singular.
/// T: double or std::complex<double>.
/// @param matrix  [row * n + column], overwritten
template <class T>
bool eliminate(std::vector<T>& matrix, std::vector<T>& right);

}  // namespace karst
