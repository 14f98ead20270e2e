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

/// The same of rows that are padded with zeros, by the method of Gauss and Jordan: all in vectors, no back
/// substitution. Rows are to be scaled such that their diagonals are about 1; only where one is below 0.1 are rows
/// exchanged.
/// @param matrix  [row * width + column]
/// @param width   a multiple of 8
bool eliminate_padded(std::vector<double>& matrix, std::size_t width, std::vector<double>& right);

}  // namespace karst
