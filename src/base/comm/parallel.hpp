// SPDX-License-Identifier: BSD-3-Clause
// The only OpenMP of the project. An exception thrown by a body is rethrown on the calling thread; when several bodies
// throw it is the one of the lowest i, for any number of threads. Loops inside a body run on the thread of the body.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/trace.hpp"
#include "base/core/error.hpp"

namespace karst {

/// Threads of the next parallel loop (1 inside of one).
inline int n_threads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }
/// Sets the threads of this process. Throws Error unless n >= 1. Call outside of parallel loops.
inline void set_n_threads(int n) {
  require(n >= 1, "number of threads: {} given, at least 1 is needed", n);
  omp_set_num_threads(n);
}
/// Number of the calling thread inside the loop, 0 .. n_threads - 1; 0 outside of loops.
inline int thread_number() { return omp_get_thread_num(); }

namespace detail {

/// Keeps the exception of the lowest index.
class FirstException {
 public:
  void keep(std::int64_t i);  ///< the one that is being handled
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::int64_t index_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr exception_;
};

/// First index of share t of m equal shares of [0, n).
constexpr std::int64_t share_begin(std::int64_t n, std::int64_t t, std::int64_t m) {
  return n / m * t + std::min(t, n % m);
}

// The threads of a loop, compiled once for all loops: a loop itself is a function of its body that they call.

/// Calls share(body, begin, end, failure) once on each thread. The share catches what its body throws.
using Share = void (*)(void* body, std::int64_t begin, std::int64_t end, FirstException& failure);
void run_shares(std::int64_t n, void* body, Share share);
/// Calls one(body, i) for i in [0, n), handed out one by one.
using One = void (*)(void* body, std::int64_t i);
void run_one_by_one(std::int64_t n, void* body, One one);

/// Number t of n of the shares of a loop: the index where they begin in sums of weights (parallel_for_shares).
std::int64_t weighted_share_begin(std::span<const std::int64_t> sums, std::int64_t t, std::int64_t n);

template <class F>
void* address_of(F& f) {
  return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
}
template <class F>
void call_share(void* body, std::int64_t i, std::int64_t end, FirstException& failure) {
  F& f = *static_cast<F*>(body);
  try {
    for (; i < end; ++i) f(i);
  } catch (...) {
    failure.keep(i);
  }
}
template <class F>
void call_one(void* body, std::int64_t i) {
  (*static_cast<F*>(body))(i);
}

}  // namespace detail

/// f(i) for i in [0, n), equal contiguous shares per thread.
template <class F>
void parallel_for(std::int64_t n, F&& f) {
  detail::run_shares(n, detail::address_of(f), &detail::call_share<std::remove_reference_t<F>>);
}

/// f(i) for i in [0, n), contiguous shares of about equal weight per thread.
/// @param sums  n + 1: sums of the weights before each i, and their total; non-decreasing
template <class F>
void parallel_for_shares(std::span<const std::int64_t> sums, F&& f) {
  const std::int64_t n = std::min<std::int64_t>(n_threads(), std::ssize(sums) - 1);
  parallel_for(n, [&](std::int64_t thread) {
    const std::int64_t end = detail::weighted_share_begin(sums, thread + 1, n);
    std::int64_t i = detail::weighted_share_begin(sums, thread, n);
    const trace::Slice slice(trace::boxes, end - i);
    for (; i < end; ++i) f(i);
  });
}

/// f(i) for i in [0, n), handed out one by one: for work of uneven cost (boxes).
template <class F>
void parallel_for_dynamic(std::int64_t n, F&& f) {
  detail::run_one_by_one(n, detail::address_of(f), &detail::call_one<std::remove_reference_t<F>>);
}

namespace detail {

/// Indices of a sum, in chunks.
struct Chunks {
  explicit Chunks(std::int64_t n) : size(std::clamp<std::int64_t>(n / 512, 1, 1024)), count((n + size - 1) / size) {}
  std::int64_t size, count;
};
/// One by one where chunks are few, else in shares.
void run_chunks(std::int64_t n_chunks, void* body, One one);

/// Values of chunks in pairs, those of pairs in pairs, and so on.
template <class Slot, class Combine>
void combine_pairs(std::vector<Slot>& partial, Combine& combine) {
  for (std::size_t step = 1; step < partial.size(); step *= 2)
    for (std::size_t c = 0; c + step < partial.size(); c += 2 * step)
      partial[c].value = combine(partial[c].value, partial[c + step].value);
}

struct Plus {
  double operator()(double a, double b) const { return a + b; }
};
struct Larger {
  double operator()(double a, double b) const { return std::isnan(a) || std::isgreater(a, b) ? a : b; }
};

}  // namespace detail

/// combine(...combine(zero, f(0))..., f(n-1)), grouped in a way that depends only on n, not on the number of threads:
/// chunks of at most 1024 indices in order, then the chunks in pairs.
/// @param zero     neutral element: combine(zero, x) = x
/// @param combine  (T, T) -> T, associative up to rounding
template <class T, class F, class Combine>
T parallel_reduce(std::int64_t n, const T& zero, F&& f, Combine&& combine) {
  if (n <= 0) return zero;
  const detail::Chunks chunks(n);
  struct Slot {  // a struct, so that T = bool is no bit of a shared word
    T value;
  };
  std::vector<Slot> partial(chunks.count, Slot{zero});
  const auto reduce_chunk = [&](std::int64_t c) {
    T sum = zero;
    const std::int64_t end = std::min(n, (c + 1) * chunks.size);
    for (std::int64_t i = c * chunks.size; i < end; ++i) sum = combine(sum, f(i));
    partial[c].value = sum;
  };
  detail::run_chunks(chunks.count, detail::address_of(reduce_chunk), &detail::call_one<decltype(reduce_chunk)>);
  detail::combine_pairs(partial, combine);
  return partial.front().value;
}

/// Σ f(i) for i in [0, n), added in an order that depends only on n, not on the number of threads.
template <class F>
double parallel_sum(std::int64_t n, F&& f) {
  return parallel_reduce(n, 0.0, f, detail::Plus{});
}

/// max f(i) for i in [0, n); -infinity when n = 0; NaN when any f(i) is NaN.
template <class F>
double parallel_max(std::int64_t n, F&& f) {
  return parallel_reduce(n, -std::numeric_limits<double>::infinity(), f, detail::Larger{});
}

}  // namespace karst
