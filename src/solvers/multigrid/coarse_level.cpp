// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/coarse_level.hpp"

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

/// Smallest number of values for which a sweep uses threads. The sweep of a smaller level takes no longer than a
/// barrier of the threads, and a barrier takes much longer if other programs use the cores.
constexpr std::int64_t worth_threads = 8192;

}  // namespace

template <int C>
BasicCoarseLevel<C>::BasicCoarseLevel(const Comm& comm, const NodeGraph& graph, NodeChildren children,
                                      std::vector<float> bond)
    : CoarseRows(comm, graph, std::move(children), std::move(bond), C) {
  const std::size_t n_all = n_nodes_ + halo_.n_received();
  x_ = Array<Value>(n_all, Purpose::solver, Value{});
  y_ = Array<Value>(n_all, Purpose::solver, Value{});
  b_ = Array<Value>(n_own(), Purpose::solver, Value{});
  residual_ = Array<Value>(n_own(), Purpose::solver, Value{});
}

template <int C>
template <class F>
void BasicCoarseLevel<C>::take_own_diagonals(std::size_t window, float* to, F&& f) const {
  if (own_diagonals_begin_.empty()) return;
  for (std::size_t i = own_diagonals_begin_[window]; i < own_diagonals_begin_[window + 1]; ++i) {
    const OwnDiagonal& own = own_diagonals_[i];
    const float* x = numbers(x_.data() + own.node);
    for (std::size_t c = 0; c < C; ++c) to[C * std::int64_t{own.node} + c] -= f(own) * own.more[c] * x[c];
  }
}

template <int C>
template <class F>
void BasicCoarseLevel<C>::for_windows(F&& f) const {
  const auto one = [&](std::int64_t w) { f(w, children_.window[w]); };
  if (C * n_nodes() < worth_threads)
    for (std::int64_t w = 0; w < n_windows(); ++w) one(w);
  else
    parallel_for(n_windows(), one);
}

template <int C>
void BasicCoarseLevel<C>::first_sweep(float c) {
  for_windows([&](std::size_t window, std::size_t first) {
    kernels::scale_rows<C>(rows_, window, c, numbers(b_.data() + first), numbers(x_.data() + first));
  });
}

template <int C>
void BasicCoarseLevel<C>::sweep(const SweepFactors& factors) {
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) {
    kernels::sweep_rows<C>(rows_, window, factors, numbers(x_.data()), numbers(x_.data() + first),
                           numbers(b_.data() + first), numbers(y_.data() + first));
    take_own_diagonals(window, numbers(y_.data()), [&](const OwnDiagonal& own) { return factors.c * own.inverse; });
  });
  std::swap(x_, y_);
}

template <int C>
void BasicCoarseLevel<C>::find_residual(std::size_t window, std::size_t first) {
  kernels::residual_rows<C>(rows_, window, numbers(x_.data()), numbers(x_.data() + first), numbers(b_.data() + first),
                            numbers(residual_.data() + first));
  take_own_diagonals(window, numbers(residual_.data()), [](const OwnDiagonal&) { return 1.0F; });
}

template <int C>
void BasicCoarseLevel<C>::restrict_residual(std::span<Value> coarse) {
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) {
    find_residual(window, first);
    for (std::int64_t c = children_.coarse_window[window]; c < children_.coarse_window[window + 1]; ++c) {
      kernels::Few sum{};
      for (auto k = children_.begin[c]; k < children_.begin[c + 1]; ++k)
        sum += kernels::load<C>(numbers(residual_.data() + children_.child[k]));
      kernels::store<C>(sum, numbers(coarse.data() + c));
    }
  });
}

template <int C>
void BasicCoarseLevel<C>::prolong(std::span<const Value> coarse) {
  for_windows([&](std::size_t window, std::size_t) {
    for (std::int64_t c = children_.coarse_window[window]; c < children_.coarse_window[window + 1]; ++c) {
      const kernels::Few value = kernels::load<C>(numbers(coarse.data() + c));
      for (auto k = children_.begin[c]; k < children_.begin[c + 1]; ++k) {
        float* x = numbers(x_.data() + children_.child[k]);
        kernels::store<C>(kernels::load<C>(x) + value, x);
      }
    }
  });
}

template <int C>
void BasicCoarseLevel<C>::begin_second(float c) {
  if (first_x_.size() == 0) first_x_ = Array<Value>(n_own(), Purpose::solver);
  const auto nodes = [&](std::size_t window) {
    return std::pair(children_.window[window], children_.window[window + 1]);
  };
  for_windows([&](std::size_t window, std::size_t) {
    const auto [first, last] = nodes(window);
    float *x = numbers(x_.data()), *kept = numbers(first_x_.data());
    for (std::int64_t i = C * first; i < C * last; ++i) kept[i] = x[i] *= c;
  });
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) { find_residual(window, first); });
  std::swap(b_, residual_);
}

template <int C>
void BasicCoarseLevel<C>::end_second(float p, float c) {
  float* x = numbers(x_.data());
  const float* kept = numbers(first_x_.data());
  for (std::size_t i = 0; i < C * n_own(); ++i) x[i] = p * kept[i] + c * x[i];
}

template <int C>
std::int64_t BasicCoarseLevel<C>::bytes() const {
  return row_bytes() + static_cast<std::int64_t>(x_.bytes() + y_.bytes() + b_.bytes() + residual_.bytes());
}

template class BasicCoarseLevel<1>;
template class BasicCoarseLevel<2>;
template class BasicCoarseLevel<3>;
template class BasicCoarseLevel<4>;

}  // namespace karst
