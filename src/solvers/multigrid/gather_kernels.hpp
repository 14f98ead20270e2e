// SPDX-License-Identifier: BSD-3-Clause
// Kernels over the rows and runs of one box or window. With s_v = Σ_n w_vn x_n:
//
//   sweep      y_v = p x_v + q y_v + c (b_v + s_v) / D_v
//   residual   r_v = b_v + s_v - D_v x_v
//   product    y_v = D_v x_v - s_v
//
// A Chebyshev step is a sweep with p = 1 + m - c, q = -m (x_{k+1} = x_k + m (x_k - x_{k-1}) + c D^-1 (b - A x_k)).
// Vectors have C interleaved numbers per node (values.hpp), all with the same operator: rows are read once for all.
// None of the kernels allocates; y overlaps neither x nor b.
#pragma once

#include <array>

#include "grid/level_graph.hpp"
#include "solvers/elliptic/values.hpp"
#include "solvers/multigrid/lanes.hpp"

namespace karst {

struct SweepFactors {
  float p = 1.0F, q = 0.0F, c = 0.0F;
};

namespace kernels {

template <class Column>
inline std::size_t place(const Slice<Column>& slice, std::size_t l) {
  return slice.row[l];
}
/// Calls f(l) for the rows l to l + 3 of a slice; fours that only repeat the last row are left out.
template <class Column, class F>
inline void for_fours(const Slice<Column>& slice, F&& f) {
  for (std::size_t l = 0; l < slice_height; l += rows_at_once) {
    if (l > 0 && slice.row[l] == slice.row[l - 1]) return;
    f(l);
  }
}

/// Sweep of the rows of a window.
/// @param all   x that the columns count from
/// @param x, b  x and b that the rows count from
/// @param[in,out] y  as x and b; its old values are read when q != 0
template <int C, class Column>
inline void sweep_rows(const SlicedRows<Column>& rows, std::size_t window, const SweepFactors& f, const float* all,
                       const float* x, const float* b, float* y) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    if constexpr (C == 1) {
      const Lanes sum = weighted_sum(slice, all), at = take(x, slice.row), rhs = take(b, slice.row);
      Lanes old{};
      if (f.q != 0.0F) old = take(y, slice.row);
      Lanes out;
      for (std::size_t l = 0; l < slice_height; ++l)
        out.v[l] = f.p * at.v[l] + f.q * old.v[l] + f.c * slice.inverse[l] * (rhs.v[l] + sum.v[l]);
      put(out, slice.row, y);
    } else {
      for_fours(slice, [&](std::size_t first) {
        const FewRows<C> sum = weighted_sums<C>(slice, first, all);
        FewRows<C> out;
        for (std::size_t r = 0; r < rows_at_once; ++r) {
          const std::size_t l = first + r, at = C * place(slice, l);
          out[r] = f.p * load<C>(x + at) + f.c * slice.inverse[l] * (load<C>(b + at) + sum[r]);
          if (f.q != 0.0F) out[r] += f.q * load<C>(y + at);
        }
        for (std::size_t r = 0; r < rows_at_once; ++r) store<C>(out[r], y + C * place(slice, first + r));
      });
    }
  });
}

/// Residual of the rows of a window; arguments as above.
template <int C, class Column>
inline void residual_rows(const SlicedRows<Column>& rows, std::size_t window, const float* all, const float* x,
                          const float* b, float* r) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    if constexpr (C == 1) {
      const Lanes sum = weighted_sum(slice, all), at = take(x, slice.row), rhs = take(b, slice.row);
      Lanes out;
      for (std::size_t l = 0; l < slice_height; ++l) out.v[l] = rhs.v[l] - slice.diagonal[l] * at.v[l] + sum.v[l];
      put(out, slice.row, r);
    } else {
      for_fours(slice, [&](std::size_t first) {
        const FewRows<C> sum = weighted_sums<C>(slice, first, all);
        for (std::size_t k = 0; k < rows_at_once; ++k) {
          const std::size_t l = first + k, at = C * place(slice, l);
          store<C>(load<C>(b + at) - slice.diagonal[l] * load<C>(x + at) + sum[k], r + at);
        }
      });
    }
  });
}

/// x = c D^-1 b in the rows of a window.
template <int C, class Column>
inline void scale_rows(const SlicedRows<Column>& rows, std::size_t window, float c, const float* b, float* x) {
  rows.for_each_slice(window, [&](const Slice<Column>& slice) {
    if constexpr (C == 1) {
      const Lanes rhs = take(b, slice.row);
      Lanes out;
      for (std::size_t l = 0; l < slice_height; ++l) out.v[l] = c * slice.inverse[l] * rhs.v[l];
      put(out, slice.row, x);
    } else {
      for (std::size_t l = 0; l < slice_height; ++l) {
        const std::size_t at = C * place(slice, l);
        store<C>(c * slice.inverse[l] * load<C>(b + at), x + at);
      }
    }
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

/// y_i = value(i, Σ of the six neighbours) for the numbers i of the VoFs of a run, C per VoF; value may read y_i,
/// nothing else of y.
template <int C, class T, class F>
inline void for_run(const Run& run, const T* x, T* y, F&& value) {
  constexpr std::size_t c = C;
  const std::size_t first = c * run.first, last = c * (std::size_t{run.length} - 1);
  const T* at = x + first;
  const T *a0 = x + c * run.lateral[0], *a1 = x + c * run.lateral[1], *a2 = x + c * run.lateral[2],
          *a3 = x + c * run.lateral[3];
  const T *low = x + c * run.low_end, *high = x + c * run.high_end;
  T* to = y + first;
  for (std::size_t t = 0; t < c; ++t)
    to[t] = value(first + t, (low[t] + at[t + c]) + ((a0[t] + a1[t]) + (a2[t] + a3[t])));
#pragma GCC ivdep
  for (std::size_t t = c; t < last; ++t)
    to[t] = value(first + t, (at[t - c] + at[t + c]) + ((a0[t] + a1[t]) + (a2[t] + a3[t])));
  for (std::size_t t = last; t < last + c; ++t)
    to[t] = value(first + t, (at[t - c] + high[t - last]) + ((a0[t] + a1[t]) + (a2[t] + a3[t])));
}

}  // namespace kernels
}  // namespace karst
