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
#include "solvers/lanes.hpp"

namespace karst {

struct SweepFactors {
  float p = 1.0F, q = 0.0F, c = 0.0F;
};

namespace kernels {

/// Sweep of the rows of a window.
/// @param all   x that the columns count from
/// @param x, b  x and b that the rows count from
/// @param[in,out] y  as x and b; its old values are read when q != 0
template <class Column>
inline void sweep_rows(const SlicedRows<Column>& rows, std::size_t window, const SweepFactors& f, const float* all,
                       const float* x, const float* b, float* y) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    const Lanes sum = weighted_sum(slice, all), at = take(x, slice.row), rhs = take(b, slice.row);
    Lanes old{};
    if (f.q != 0.0F) old = take(y, slice.row);
    Lanes out;
    for (std::size_t l = 0; l < slice_height; ++l)
      out.v[l] = f.p * at.v[l] + f.q * old.v[l] + f.c * slice.inverse[l] * (rhs.v[l] + sum.v[l]);
    put(out, slice.row, y);
  });
}

/// Residual of the rows of a window; arguments as above.
template <class Column>
inline void residual_rows(const SlicedRows<Column>& rows, std::size_t window, const float* all, const float* x,
                          const float* b, float* r) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    const Lanes sum = weighted_sum(slice, all), at = take(x, slice.row), rhs = take(b, slice.row);
    Lanes out;
    for (std::size_t l = 0; l < slice_height; ++l) out.v[l] = rhs.v[l] - slice.diagonal[l] * at.v[l] + sum.v[l];
    put(out, slice.row, r);
  });
}

/// x = c D^-1 b in the rows of a window.
template <class Column>
inline void scale_rows(const SlicedRows<Column>& rows, std::size_t window, float c, const float* b, float* x) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    const Lanes rhs = take(b, slice.row);
    Lanes out;
    for (std::size_t l = 0; l < slice_height; ++l) out.v[l] = c * slice.inverse[l] * rhs.v[l];
    put(out, slice.row, x);
  });
}

/// Product with the rows of a window in double precision; rows and columns count from the same place.
template <class Column>
inline void product_rows(const SlicedRows<Column>& rows, std::size_t window, const double* x, double* y) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    std::array<double, slice_height> sum{};
    const Column* column = slice.column;
    const float* weight = slice.weight;
    for (int k = 0; k < slice.width; ++k, column += slice_height, weight += slice_height)
      for (std::size_t l = 0; l < slice_height; ++l) sum[l] += static_cast<double>(weight[l]) * x[column[l]];
    for (std::size_t l = 0; l < slice_height; ++l)
      y[slice.row[l]] = static_cast<double>(slice.diagonal[l]) * x[slice.row[l]] - sum[l];
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
