// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/plain_kernel.hpp"

namespace karst {

void apply_plain(const BoxGraph& graph, double center, double side, const double* __restrict x, double* __restrict y) {
  for (const Run& run : graph.runs) {
    const double* c = x + run.first;
    const double *a0 = x + run.lateral[0], *a1 = x + run.lateral[1], *a2 = x + run.lateral[2], *a3 = x + run.lateral[3];
    double* to = y + run.first;
    const int last = run.length - 1;
    const auto value = [&](int t, double low, double high) {
      return center * c[t] - side * (((low + high) + (a0[t] + a1[t])) + (a2[t] + a3[t]));
    };
    to[0] = value(0, x[run.low_end], c[1]);
    const auto eight = [&](int t) {
      for (int l = t; l < t + 8; ++l) to[l] = value(l, c[l - 1], c[l + 1]);
    };
    int t = 1;
    for (; t + 8 <= last; t += 8) eight(t);
    if (t < last) {
      if (last > 8)
        eight(last - 8);  // overlaps what is done: no remainder loop
      else
        for (; t < last; ++t) to[t] = value(t, c[t - 1], c[t + 1]);
    }
    to[last] = value(last, c[last - 1], x[run.high_end]);
  }
  const std::size_t n_rows = graph.row_vof.size();
  for (auto r = static_cast<std::size_t>(graph.n_irregular); r < n_rows; ++r) {
    const std::array<std::uint16_t, 6>& n = graph.neighbours[r];
    const int v = graph.row_vof[r];
    y[v] = center * x[v] - side * (((x[n[0]] + x[n[1]]) + (x[n[2]] + x[n[3]])) + (x[n[4]] + x[n[5]]));
  }
}

void apply_plain(const BoxGraph& graph, double reaction, double side, const std::array<const double*, 3>& beta,
                 const double* __restrict x, double* __restrict y) {
  const auto visit = [&](int v, const std::array<std::uint16_t, 6>& n) {
    double sum = 0.0;
    for (std::size_t d = 0; d < 3; ++d) {
      const int low = n[2 * d], high = n[2 * d + 1];
      sum += beta[d][v] * (x[v] - x[low]) + beta[d][high] * (x[v] - x[high]);
    }
    y[v] = reaction * x[v] + side * sum;
  };
  for (const Run& run : graph.runs)
    for (int t = 0; t < run.length; ++t) visit(run.first + t, run.neighbours(t));
  for (auto r = static_cast<std::size_t>(graph.n_irregular); r < graph.row_vof.size(); ++r)
    visit(graph.row_vof[r], graph.neighbours[r]);
}

}  // namespace karst
