// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/plain_kernel.hpp"

#include "base/math/eight.hpp"

namespace karst {

template <int C>
void apply_plain(const BoxGraph& graph, double center, double side, const double* __restrict x, double* __restrict y) {
  for (const Run& run : graph.runs) {
    const double* c = x + C * run.first;
    const double *a0 = x + C * run.lateral[0], *a1 = x + C * run.lateral[1], *a2 = x + C * run.lateral[2],
                 *a3 = x + C * run.lateral[3];
    double* to = y + C * run.first;
    const int last = C * (run.length - 1);
    const auto value = [&](int t, double low, double high) {
      return center * c[t] - side * (((low + high) + (a0[t] + a1[t])) + (a2[t] + a3[t]));
    };
    for (int t = 0; t < C; ++t) to[t] = value(t, x[C * run.low_end + t], c[C + t]);
    const auto eight = [&](int t) {
      const Eight sum = ((load_eight(c + t - C) + load_eight(c + t + C)) + (load_eight(a0 + t) + load_eight(a1 + t))) +
                        (load_eight(a2 + t) + load_eight(a3 + t));
      const Eight result = center * load_eight(c + t) - side * sum;
      store_eight(result, to + t);
    };
    int t = C;
    for (; t + 8 <= last; t += 8) eight(t);
    if (t < last) {
      if (last >= 8 + C)
        eight(last - 8);  // overlaps what is done: no remainder loop
      else
        for (; t < last; ++t) to[t] = value(t, c[t - C], c[t + C]);
    }
    for (int i = 0; i < C; ++i) to[last + i] = value(last + i, c[last - C + i], x[C * run.high_end + i]);
  }
  const std::size_t n_rows = graph.row_vof.size();
  for (std::size_t r = graph.n_irregular; r < n_rows; ++r) {
    const std::array<std::uint16_t, 6>& n = graph.neighbours[r];
    const int v = graph.row_vof[r];
    const auto at = [&](int i, int k) { return x[C * n[k] + i]; };
    for (int i = 0; i < C; ++i)
      y[C * v + i] =
          center * x[C * v + i] - side * (((at(i, 0) + at(i, 1)) + (at(i, 2) + at(i, 3))) + (at(i, 4) + at(i, 5)));
  }
}

template <int C>
void apply_plain(const BoxGraph& graph, double reaction, double side, const std::array<const double*, 3>& beta,
                 const double* __restrict x, double* __restrict y) {
  const auto visit = [&](int v, const std::array<std::uint16_t, 6>& n) {
    for (int i = 0; i < C; ++i) {
      double sum = 0.0;
      for (std::size_t d = 0; d < 3; ++d) {
        const int low = n[2 * d], high = n[2 * d + 1];
        sum += beta[d][v] * (x[C * v + i] - x[C * low + i]) + beta[d][high] * (x[C * v + i] - x[C * high + i]);
      }
      y[C * v + i] = reaction * x[C * v + i] + side * sum;
    }
  };
  for (const Run& run : graph.runs)
    for (int t = 0; t < run.length; ++t) visit(run.first + t, run.neighbours(t));
  for (std::size_t r = graph.n_irregular; r < graph.row_vof.size(); ++r) visit(graph.row_vof[r], graph.neighbours[r]);
}

template void apply_plain<1>(const BoxGraph&, double, double, const double*, double*);
template void apply_plain<2>(const BoxGraph&, double, double, const double*, double*);
template void apply_plain<3>(const BoxGraph&, double, double, const double*, double*);
template void apply_plain<4>(const BoxGraph&, double, double, const double*, double*);
template void apply_plain<1>(const BoxGraph&, double, double, const std::array<const double*, 3>&, const double*,
                             double*);
template void apply_plain<2>(const BoxGraph&, double, double, const std::array<const double*, 3>&, const double*,
                             double*);
template void apply_plain<3>(const BoxGraph&, double, double, const std::array<const double*, 3>&, const double*,
                             double*);
template void apply_plain<4>(const BoxGraph&, double, double, const std::array<const double*, 3>&, const double*,
                             double*);

}  // namespace karst
