// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/truncated_gcr.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/parallel.hpp"
#include "solvers/krylov/dot.hpp"

namespace karst {
namespace {

constexpr std::int64_t block = 2048;  // unknowns that a thread works on at a time
/// <q, q> after and before: what is left of a direction that was none.
constexpr double least_new = 1e-24;

/// y -= factor x
void subtract(double factor, const double* __restrict x, double* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] -= factor * x[i];
}

}  // namespace

TruncatedGcr::TruncatedGcr(const Comm& comm, std::int64_t n, int memory)
    : comm_(comm), n_(n), memory_(static_cast<std::size_t>(memory)), r_(static_cast<std::size_t>(n), Purpose::solver) {
  assert(memory >= 1 && memory <= largest_memory);
}

/// Σ f(first, n) over blocks and ranks.
template <std::size_t k, class F>
std::array<double, k> TruncatedGcr::over_blocks(F&& f) const {
  using Sums = std::array<double, k>;
  Sums sums = parallel_reduce((n_ + block - 1) / block, Sums{},
                              [&](std::int64_t i) { return f(i * block, std::min(block, n_ - i * block)); },
                              [](Sums a, const Sums& b) {
                                for (std::size_t j = 0; j < k; ++j) a[j] += b[j];
                                return a;
                              });
  comm_.sum(std::span<double>(sums));
  return sums;
}

/// An empty slot for the next direction: a new one, or the oldest. Every solve begins with slot 0, so that the order of
/// its sums, and their last bits, do not depend on the solves before it.
void TruncatedGcr::prepare_next() {
  next_ = (next_ + 1) % (memory_ + 1);
  if (next_ == slots_.size()) {
    const auto n = static_cast<std::size_t>(n_);
    slots_.push_back({{n, Purpose::solver}, {n, Purpose::solver}, 0.0});
  } else {
    slots_[next_].square = 0.0;
  }
}

double TruncatedGcr::start(std::span<const double> b, std::span<const double> ax) {
  for (Slot& s : slots_) s.square = 0.0;
  next_ = memory_;
  prepare_next();
  return std::sqrt(over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    double* r = r_.data() + first;
    const double *from = b.data() + first, *minus = ax.data() + first;
    for (std::int64_t i = 0; i < n; ++i) r[i] = from[i] - minus[i];
    return std::array{dot_of(r, r, n)};
  })[0]);
}

double TruncatedGcr::start(std::span<const double> b) {
  for (Slot& s : slots_) s.square = 0.0;
  next_ = memory_;
  prepare_next();
  return std::sqrt(over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    std::copy_n(b.data() + first, n, r_.data() + first);
    return std::array{dot_of(b.data() + first, b.data() + first, n)};
  })[0]);
}

TruncatedGcr::Factors TruncatedGcr::kept() const {
  Factors kept;
  for (const Slot& s : slots_)
    if (s.square > 0.0) kept.slot[kept.n++] = &s;
  return kept;
}

void TruncatedGcr::find_factors(Factors& kept) const {
  const double* q = slots_[next_].q.data();
  const auto sums = over_blocks<largest_memory>([&](std::int64_t first, std::int64_t n) {
    std::array<double, largest_memory> sum{};
    for (std::size_t j = 0; j < kept.n; ++j) sum[j] = dot_of(q + first, kept.slot[j]->q.data() + first, n);
    return sum;
  });
  for (std::size_t j = 0; j < kept.n; ++j) kept.value[j] = sums[j] / kept.slot[j]->square;
}

/// <q, q>, <q, r>
std::array<double, 2> TruncatedGcr::make_orthogonal(const Factors& kept) {
  Slot& now = slots_[next_];
  return over_blocks<2>([&](std::int64_t first, std::int64_t n) {
    double *p = now.p.data() + first, *q = now.q.data() + first;
    for (std::size_t j = 0; j < kept.n; ++j) {
      subtract(kept.value[j], kept.slot[j]->p.data() + first, p, n);
      subtract(kept.value[j], kept.slot[j]->q.data() + first, q, n);
    }
    return std::array{dot_of(q, q, n), dot_of(q, r_.data() + first, n)};
  });
}

double TruncatedGcr::advance(std::span<double> x) {
  Factors factors = kept();
  double before = 0.0;
  if (factors.n > 0) {
    find_factors(factors);
    for (std::size_t j = 0; j < factors.n; ++j) before += factors.value[j] * factors.value[j] * factors.slot[j]->square;
  }
  const auto [square, with_r] = make_orthogonal(factors);
  if (!(square > least_new * before) || !(square > 0.0)) return std::nan("");
  const double step = with_r / square;
  Slot& now = slots_[next_];
  now.square = square;
  const double left = over_blocks<1>([&](std::int64_t first, std::int64_t n) {
    const double* __restrict p = now.p.data() + first, * __restrict q = now.q.data() + first;
    double* __restrict to = x.data() + first, * __restrict r = r_.data() + first;
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] += step * p[i];
      r[i] -= step * q[i];
    }
    return std::array{dot_of(r, r, n)};
  })[0];
  prepare_next();
  return std::sqrt(left);
}

std::int64_t TruncatedGcr::bytes() const {
  return static_cast<std::int64_t>(r_.bytes()) +
         2 * static_cast<std::int64_t>(slots_.size()) * n_ * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace karst
