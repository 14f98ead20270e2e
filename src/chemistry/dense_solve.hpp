// SPDX-License-Identifier: BSD-3-Clause
// Systems of a dozen equations, solved in place without allocation.
#pragma once

#include <vector>

namespace karst {

/// Gaussian elimination with row exchanges: matrix x = right; x takes the place of right. False when singular.
/// @param matrix  [row * n + column], overwritten
bool eliminate(std::vector<double>& matrix, std::vector<double>& right);

}  // namespace karst
