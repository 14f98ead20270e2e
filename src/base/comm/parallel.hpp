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
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/comm/timer.hpp"
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
  void keep(std::int64_t i) {
    const std::lock_guard lock(mutex_);
    if (i < index_) {
      index_ = i;
      exception_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::int64_t index_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr exception_;
};

/// Lets the timers of the other threads of a loop count under those around the loop; a slice of a trace per thread.
class LoopTimers {
 public:
  explicit LoopTimers(const TimerNode* place) {
    if (omp_get_thread_num() != 0) under_.emplace(place);
    if (trace::on) [[unlikely]]
      traced_ = omp_get_num_threads() > 1 && begin_share(place, omp_get_thread_num() == 0);
  }
  LoopTimers(const LoopTimers&) = delete;
  LoopTimers& operator=(const LoopTimers&) = delete;
  ~LoopTimers() {
    if (traced_) [[unlikely]]
      trace::end();
  }

 private:
  std::optional<TimersUnder> under_;
  bool traced_ = false;
};

/// First index of share t of m equal shares of [0, n).
constexpr std::int64_t share_begin(std::int64_t n, std::int64_t t, std::int64_t m) {
  return n / m * t + std::min(t, n % m);
}

}  // namespace detail

/// f(i) for i in [0, n), equal contiguous shares per thread.
template <class F>
void parallel_for(std::int64_t n, F&& f) {
  detail::FirstException failure;
  const detail::TimerNode* const place = detail::running_timer();
#pragma omp parallel if (n > 1)
  {
    const detail::LoopTimers timers(place);
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const std::int64_t end = detail::share_begin(n, thread + 1, threads);
    std::int64_t i = detail::share_begin(n, thread, threads);
    try {
      for (; i < end; ++i) f(i);
    } catch (...) {
      failure.keep(i);
    }
  }
  failure.rethrow();
}

/// f(i) for i in [0, n), contiguous shares of about equal weight per thread.
/// @param sums  n + 1: sums of the weights before each i, and their total; non-decreasing
template <class F>
void parallel_for_shares(std::span<const std::int64_t> sums, F&& f) {
  const auto total = static_cast<double>(sums.back() - sums.front());
  const auto begin_of = [&](std::int64_t thread, std::int64_t threads) {
    if (thread == threads) return std::ssize(sums) - 1;
    const double share = total * static_cast<double>(thread) / static_cast<double>(threads);
    const std::int64_t before = sums.front() + static_cast<std::int64_t>(share);
    return std::lower_bound(sums.begin(), sums.end() - 1, before) - sums.begin();
  };
  const std::int64_t n = std::min<std::int64_t>(n_threads(), std::ssize(sums) - 1);
  parallel_for(n, [&](std::int64_t thread) {
    const std::int64_t end = begin_of(thread + 1, n);
    std::int64_t i = begin_of(thread, n);
    const trace::Slice slice(trace::boxes, end - i);
    for (; i < end; ++i) f(i);
  });
}

/// f(i) for i in [0, n), handed out one by one: for work of uneven cost (boxes).
template <class F>
void parallel_for_dynamic(std::int64_t n, F&& f) {
  detail::FirstException failure;
  const detail::TimerNode* const place = detail::running_timer();
#pragma omp parallel if (n > 1)
  {
    const detail::LoopTimers timers(place);
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t i = 0; i < n; ++i) {
      try {
        f(i);
      } catch (...) {
        failure.keep(i);
      }
    }
  }
  failure.rethrow();
}

/// combine(...combine(zero, f(0))..., f(n-1)), grouped in a way that depends only on n, not on the number of threads:
/// chunks of at most 1024 indices in order, then the chunks in pairs.
/// @param zero     neutral element: combine(zero, x) = x
/// @param combine  (T, T) -> T, associative up to rounding
template <class T, class F, class Combine>
T parallel_reduce(std::int64_t n, const T& zero, F&& f, Combine&& combine) {
  if (n <= 0) return zero;
  const std::int64_t chunk = std::clamp<std::int64_t>(n / 512, 1, 1024);
  const std::int64_t n_chunks = (n + chunk - 1) / chunk;
  struct Slot {  // a struct, so that T = bool is no bit of a shared word
    T value;
  };
  std::vector<Slot> partial(n_chunks, Slot{zero});
  const auto reduce_chunk = [&](std::int64_t c) {
    T sum = zero;
    const std::int64_t end = std::min(n, (c + 1) * chunk);
    for (std::int64_t i = c * chunk; i < end; ++i) sum = combine(sum, f(i));
    partial[c].value = sum;
  };
  if (n_chunks <= 4096) {
    parallel_for_dynamic(n_chunks, reduce_chunk);
  } else {
    parallel_for(n_chunks, reduce_chunk);
  }
  for (std::size_t step = 1; step < partial.size(); step *= 2) {
    for (std::size_t c = 0; c + step < partial.size(); c += 2 * step) {
      partial[c].value = combine(partial[c].value, partial[c + step].value);
    }
  }
  return partial.front().value;
}

/// Σ f(i) for i in [0, n), added in an order that depends only on n, not on the number of threads.
template <class F>
double parallel_sum(std::int64_t n, F&& f) {
  return parallel_reduce(n, 0.0, f, [](double a, double b) { return a + b; });
}

/// max f(i) for i in [0, n); -infinity when n = 0; NaN when any f(i) is NaN.
template <class F>
double parallel_max(std::int64_t n, F&& f) {
  return parallel_reduce(n, -std::numeric_limits<double>::infinity(), f,
                         [](double a, double b) { return std::isnan(a) || std::isgreater(a, b) ? a : b; });
}

}  // namespace karst
