// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/direct_solve.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace karst {
namespace {

/// Inverse of an M-matrix or its transposed, in place, by Gauss-Jordan elimination (needs no pivots).
/// @param a  n x n, row after row
void invert_in_place(std::vector<double>& a, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    double* row = a.data() + k * n;
    const double pivot = 1.0 / row[k];
    row[k] = 1.0;
    for (std::size_t j = 0; j < n; ++j) row[j] *= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      double* __restrict other = a.data() + i * n;
      const double* __restrict from = row;
      const double factor = other[k];
      other[k] = 0.0;
      if (factor == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) other[j] -= factor * from[j];
    }
  }
}

void make_symmetric(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
}

/// Nodes held at 0: of every connected component whose shifts are all 0 the one that hangs on its neighbours most. What
/// the right-hand side lacks in balance, round-off at least, leaves through it: a weak link would lift all the others.
std::vector<std::uint8_t> find_pinned(const NodeGraph& graph, std::span<const float> shift) {
  const std::size_t n = graph.size();
  std::vector<std::uint8_t> seen(n), pinned(n);
  std::vector<std::size_t> stack;
  const auto hold = [&](std::size_t v) {
    const auto first = graph.weight.begin() + graph.begin[v], last = graph.weight.begin() + graph.begin[v + 1];
    return std::accumulate(first, last, 0.0);
  };
  for (std::size_t seed = 0; seed < n; ++seed) {
    if (seen[seed]) continue;
    bool shifted = false;
    std::size_t best = seed;
    seen[seed] = 1;
    stack.assign(1, seed);
    while (!stack.empty()) {
      const std::size_t v = stack.back();
      stack.pop_back();
      shifted = shifted || shift[v] > 0.0F;
      if (hold(v) > hold(best)) best = v;
      for (std::int64_t k = graph.begin[v]; k < graph.begin[v + 1]; ++k) {
        const std::size_t u = graph.column[k];
        if (!seen[u]) stack.push_back(u);
        seen[u] = 1;
      }
    }
    pinned[best] = !shifted;
  }
  return pinned;
}

}  // namespace

template <int C>
BasicDirectSolve<C>::BasicDirectSolve(const NodeGraph& graph) {
  assert(graph.remote.empty());
  const std::size_t n = graph.size();
  b_.resize(n);
  x_.resize(n);
  alone_.resize(C * n);
  components_differ_ = C == 3 && !graph.component_shift.empty();
  for (std::size_t v = 0; v < n; ++v)
    if (graph.begin[v] < graph.begin[v + 1]) connected_.push_back(static_cast<std::int32_t>(v));
  const std::size_t m = connected_.size();
  std::size_t n_inverses = 1;
  if (components_differ_) n_inverses = C;
  inverse_.resize(m * m * n_inverses);
  sums_.resize(C * m);
  for (std::size_t c = 0; c < C; ++c) {
    std::vector<float> shift = graph.shifts();
    if (C == 3)
      for (const ComponentShift& s : graph.component_shift) shift[s.node] += s.shift[c];
    for (std::size_t v = 0; v < n; ++v)
      if (graph.begin[v] == graph.begin[v + 1] && shift[v] > 0.0F) alone_[C * v + c] = 1.0F / shift[v];
    if (c >= n_inverses) continue;
    const std::vector<double> a = invert(graph, shift);
    std::ranges::transform(a, inverse_.begin() + c * m * m, [](double v) { return static_cast<float>(v); });
  }
}

template <int C>
std::vector<double> BasicDirectSolve<C>::invert(const NodeGraph& graph, std::span<const float> shift) const {
  const std::vector<std::uint8_t> pinned = find_pinned(graph, shift);
  std::vector<std::int32_t> place(shift.size(), -1);
  const std::size_t m = connected_.size();
  for (std::size_t i = 0; i < m; ++i) place[connected_[i]] = static_cast<std::int32_t>(i);
  std::vector<double> a(m * m);  // transposed
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t v = connected_[i];
    double diagonal = shift[v];
    for (std::int64_t k = graph.begin[v]; k < graph.begin[v + 1]; ++k) {
      const std::size_t u = graph.column[k];
      diagonal += graph.weight_of(k);
      if (!pinned[v] && !pinned[u]) a[place[u] * m + i] -= graph.weight_of(k);
    }
    a[i * m + i] = pinned[v] ? 1.0 : diagonal;
  }
  invert_in_place(a, m);
  if (graph.inflow.empty()) make_symmetric(a, m);
  for (std::size_t i = 0; i < m; ++i)
    if (pinned[connected_[i]]) a[i * m + i] = 0.0;
  return a;
}

template <int C>
void BasicDirectSolve<C>::solve() {
  float* x = numbers(x_.data());
  const float* b = numbers(b_.data());
  for (std::size_t i = 0; i < alone_.size(); ++i) x[i] = alone_[i] * b[i];
  const std::size_t m = connected_.size();
  std::ranges::fill(sums_, 0.0F);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t c = 0; c < C; ++c) {
      const float from = b[C * connected_[i] + c];
      const float* __restrict row = inverse_.data() + ((components_differ_ ? c * m : 0) + i) * m;
      float* __restrict to = sums_.data() + c * m;
      for (std::size_t j = 0; j < m; ++j) to[j] += from * row[j];
    }
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t c = 0; c < C; ++c) x[C * connected_[j] + c] = sums_[c * m + j];
}

template class BasicDirectSolve<1>;
template class BasicDirectSolve<2>;
template class BasicDirectSolve<3>;
template class BasicDirectSolve<4>;

}  // namespace karst
