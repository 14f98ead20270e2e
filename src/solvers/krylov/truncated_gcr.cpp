// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/truncated_gcr.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "solvers/krylov/dot.hpp"

namespace karst {
namespace {

constexpr std::int64_t block = 2048;  // unknowns that a thread works on at a time
/// <q, q> after and before: what is left of a direction that was none.
constexpr double least_new = 1e-24;
/// |r| after and before a step: what is more is no gain.
constexpr double no_gain = 0.999;

/// y -= factor x
template <int C>
void subtract(const std::array<double, C> factor, const double* __restrict x, double* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) y[i * C + c] -= factor[c] * x[i * C + c];
}

template <int C>
bool any_positive(const std::array<double, C>& values) {
  return std::ranges::any_of(values, [](double v) { return v > 0.0; });
}

}  // namespace

template <int C>
BasicTruncatedGcr<C>::BasicTruncatedGcr(const Comm& comm, std::int64_t n, GcrMemory memory)
    : comm_(comm), n_(n), memory_(memory), r_(n * C, Purpose::solver) {
  assert(memory.first >= 1 && memory.first <= memory.later && memory.later <= largest_memory);
}

/// Σ f(first number, unknowns) over blocks and ranks.
template <int C>
template <std::size_t k, class F>
std::array<std::array<double, C>, k> BasicTruncatedGcr<C>::over_blocks(F&& f) const {
  using Sums = std::array<Values, k>;
  Sums sums = parallel_reduce((n_ + block - 1) / block, Sums{},
                              [&](std::int64_t i) { return f(i * block * C, std::min(block, n_ - i * block)); },
                              [](Sums a, const Sums& b) {
                                for (std::size_t j = 0; j < k; ++j)
                                  for (std::size_t c = 0; c < C; ++c) a[j][c] += b[j][c];
                                return a;
                              });
  comm_.sum(std::span<double>(sums.front().data(), k * C));
  return sums;
}

/// A slot for the next direction, new or emptied.
template <int C>
void BasicTruncatedGcr<C>::prepare(std::size_t slot) {
  last_ = next_;
  next_ = slot;
  if (slot == slots_.size()) {
    const std::size_t n = n_ * C;
    slots_.push_back({{n, Purpose::solver}, {n, Purpose::solver}, {}});
  } else {
    slots_[slot].square = {};
  }
}

template <int C>
typename BasicTruncatedGcr<C>::Sizes BasicTruncatedGcr<C>::sizes() const {
  if constexpr (C == 1)
    return left_[0];
  else
    return left_;
}

template <int C>
typename BasicTruncatedGcr<C>::Sizes BasicTruncatedGcr<C>::begin(const Values& squares) {
  for (Slot& s : slots_) s.square = {};
  steps_ = 0;
  prepare(0);  // every time, so that the order of its sums, and their last bits, do not depend on solves before
  rests_ = stands_ = {};
  for (int c = 0; c < C; ++c) left_[c] = std::sqrt(squares[c]);
  return sizes();
}

template <int C>
typename BasicTruncatedGcr<C>::Sizes BasicTruncatedGcr<C>::start(std::span<const double> b,
                                                                 std::span<const double> ax) {
  return begin(over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    double* r = r_.data() + first;
    const double *from = b.data() + first, *minus = ax.data() + first;
    for (std::int64_t i = 0; i < n * C; ++i) r[i] = from[i] - minus[i];
    return std::array<Values, 1>{dots_of<C>(r, r, n)};
  })[0]);
}

template <int C>
typename BasicTruncatedGcr<C>::Sizes BasicTruncatedGcr<C>::start(std::span<const double> b) {
  return begin(over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    std::copy_n(b.data() + first, n * C, r_.data() + first);
    return std::array<Values, 1>{dots_of<C>(b.data() + first, b.data() + first, n)};
  })[0]);
}

template <int C>
std::span<const double> BasicTruncatedGcr<C>::to_precondition() {
  const Slot& last = slots_[last_];
  Values factor{};  // 0: the residual
  for (int c = 0; c < C; ++c)
    if (stands_[c] && !rests_[c]) factor[c] = left_[c] / std::sqrt(last.square[c]);
  if (!any_positive<C>(factor)) return r_.span();
  const double *r = r_.data(), *q = last.q.data();
  double* to = slots_[next_].q.data();
  parallel_for(n_, [&](std::int64_t i) {
    for (int c = 0; c < C; ++c) to[i * C + c] = factor[c] > 0.0 ? factor[c] * q[i * C + c] : r[i * C + c];
  });
  return slots_[next_].q.span();
}

template <int C>
typename BasicTruncatedGcr<C>::Factors BasicTruncatedGcr<C>::kept() const {
  Factors kept;
  for (const Slot& s : slots_)
    if (any_positive<C>(s.square)) kept.slot[kept.n++] = &s;
  return kept;
}

/// 0 where a kept direction is none of this right-hand side.
template <int C>
void BasicTruncatedGcr<C>::find_factors(Factors& kept) const {
  const double* q = slots_[next_].q.data();
  const auto sums = over_blocks<largest_memory>([&](std::int64_t first, std::int64_t n) {
    std::array<Values, largest_memory> sum{};
    for (std::size_t j = 0; j < kept.n; ++j) sum[j] = dots_of<C>(q + first, kept.slot[j]->q.data() + first, n);
    return sum;
  });
  for (std::size_t j = 0; j < kept.n; ++j)
    for (int c = 0; c < C; ++c) {
      const double square = kept.slot[j]->square[c];
      kept.value[j][c] = square > 0.0 ? sums[j][c] / square : 0.0;
    }
}

/// <q, q>, <q, r>
template <int C>
std::array<std::array<double, C>, 2> BasicTruncatedGcr<C>::make_orthogonal(const Factors& kept) {
  Slot& now = slots_[next_];
  return over_blocks<2>([&](std::int64_t first, std::int64_t n) {
    double *p = now.p.data() + first, *q = now.q.data() + first;
    for (std::size_t j = 0; j < kept.n; ++j) {
      subtract<C>(kept.value[j], kept.slot[j]->p.data() + first, p, n);
      subtract<C>(kept.value[j], kept.slot[j]->q.data() + first, q, n);
    }
    return std::array{dots_of<C>(q, q, n), dots_of<C>(q, r_.data() + first, n)};
  });
}

template <int C>
typename BasicTruncatedGcr<C>::Sizes BasicTruncatedGcr<C>::advance(std::span<double> x) {
  Factors factors = kept();
  if (factors.n > 0) find_factors(factors);
  const auto [square, with_r] = make_orthogonal(factors);
  Slot& now = slots_[next_];
  Values step{};
  for (int c = 0; c < C; ++c) {
    if (rests_[c]) continue;
    double before = 0.0;
    for (std::size_t j = 0; j < factors.n; ++j)
      before += factors.value[j][c] * factors.value[j][c] * factors.slot[j]->square[c];
    if (square[c] > least_new * before && square[c] > 0.0) {
      step[c] = with_r[c] / square[c];
      now.square[c] = square[c];
    } else {
      rests_[c] = true;
      left_[c] = std::nan("");
    }
  }
  if (!any_positive<C>(now.square)) return sizes();
  const Values squares = over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    const double* __restrict p = now.p.data() + first, * __restrict q = now.q.data() + first;
    double* __restrict to = x.data() + first, * __restrict r = r_.data() + first;
    const Values by = step;  // 0 at rest
    for (std::int64_t i = 0; i < n; ++i)
      for (int c = 0; c < C; ++c) {
        to[i * C + c] += by[c] * p[i * C + c];
        r[i * C + c] -= by[c] * q[i * C + c];
      }
    return std::array<Values, 1>{dots_of<C>(r, r, n)};
  })[0];
  for (int c = 0; c < C; ++c) {
    if (rests_[c]) continue;
    const double before = left_[c];
    left_[c] = std::sqrt(squares[c]);
    stands_[c] = left_[c] > no_gain * before;
  }
  const int memory = ++steps_ < memory_.patience ? memory_.first : memory_.later;
  prepare((next_ + 1) % (memory + 1));
  return sizes();
}

template <int C>
std::int64_t BasicTruncatedGcr<C>::bytes() const {
  return static_cast<std::int64_t>(r_.bytes()) +
         2 * static_cast<std::int64_t>(slots_.size()) * n_ * C * static_cast<std::int64_t>(sizeof(double));
}

template class BasicTruncatedGcr<1>;
template class BasicTruncatedGcr<2>;
template class BasicTruncatedGcr<3>;
template class BasicTruncatedGcr<4>;

}  // namespace karst
