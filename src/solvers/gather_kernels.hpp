// SPDX-License-Identifier: BSD-3-Clause
// Kernels over the rows and runs of one box or window. With s_v = Σ_n w_vn x_n:
//
//   sweep      y_v = p x_v + q y_v + c (b_v + s_v) / D_v
//   residual   r_v = b_v + s_v - D_v x_v
//   product    y_v = D_v x_v - s_v
//
// A Chebyshev step is a sweep with p = 1 + m - c, q = -m (x_{k+1} = x_k + m (x_k - x_{k-1}) + c D^-1 (b - A x_k)).
// None of them allocates; y overlaps neither x nor b.
#pragma once

#include <array>

#include "grid/level_graph.hpp"
#include "solvers/sliced_rows.hpp"

namespace karst {

struct SweepFactors {
  float p = 1.0F, q = 0.0F, c = 0.0F;
};

namespace kernels {

/// s of the 16 rows of a slice.
template <class T, class Column>
inline void gather(const Slice<Column>& slice, const T* __restrict x, T* __restrict sum) {
  for (std::size_t l = 0; l < slice_height; ++l) sum[l] = 0;
  const Column* column = slice.column;
  const float* weight = slice.weight;
  for (int k = 0; k < slice.width; ++k, column += slice_height, weight += slice_height)
    for (std::size_t l = 0; l < slice_height; ++l) sum[l] += static_cast<T>(weight[l]) * x[column[l]];
}

/// y_row = value(lane, row, s) for the rows of a window; values of a slice are all taken before any is stored.
/// @param x  what the columns count from
/// @param[out] y  what the rows count from
template <class T, class Column, class F>
inline void for_rows(const SlicedRows<Column>& rows, std::size_t window, const T* x, T* y, F&& value) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    alignas(64) std::array<T, slice_height> sum, out;
    gather(slice, x, sum.data());
    for (std::size_t l = 0; l < slice_height; ++l) out[l] = value(slice, l, std::size_t{slice.row[l]}, sum[l]);
    for (std::size_t l = 0; l < slice_height; ++l) y[slice.row[l]] = out[l];
  });
}

/// y_v = value(v, Σ of the six neighbours) for the VoFs of a run; value may read y_v, nothing else of y.
template <class T, class F>
inline void for_run(const Run& run, const T* x, T* y, F&& value) {
  const std::size_t first = run.first, last = std::size_t{run.length} - 1;
  const T* c = x + first;
  const T *a0 = x + run.lateral[0], *a1 = x + run.lateral[1], *a2 = x + run.lateral[2], *a3 = x + run.lateral[3];
  T* to = y + first;
  to[0] = value(first, (x[run.low_end] + c[1]) + ((a0[0] + a1[0]) + (a2[0] + a3[0])));
#pragma GCC ivdep
  for (std::size_t t = 1; t < last; ++t)
    to[t] = value(first + t, (c[t - 1] + c[t + 1]) + ((a0[t] + a1[t]) + (a2[t] + a3[t])));
  to[last] = value(first + last, (c[last - 1] + x[run.high_end]) + ((a0[last] + a1[last]) + (a2[last] + a3[last])));
}

}  // namespace kernels
}  // namespace karst
