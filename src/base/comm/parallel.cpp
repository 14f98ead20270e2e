// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/parallel.hpp"

#include <optional>

#include "base/comm/timer.hpp"

namespace karst::detail {
namespace {

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

}  // namespace

void FirstException::keep(std::int64_t i) {
  const std::lock_guard lock(mutex_);
  if (i < index_) {
    index_ = i;
    exception_ = std::current_exception();
  }
}

void run_shares(std::int64_t n, void* body, Share share) {
  FirstException failure;
  const TimerNode* const place = running_timer();
#pragma omp parallel if (n > 1)
  {
    const LoopTimers timers(place);
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    share(body, share_begin(n, thread, threads), share_begin(n, thread + 1, threads), failure);
  }
  failure.rethrow();
}

void run_one_by_one(std::int64_t n, void* body, One one) {
  FirstException failure;
  const TimerNode* const place = running_timer();
#pragma omp parallel if (n > 1)
  {
    const LoopTimers timers(place);
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t i = 0; i < n; ++i) {
      try {
        one(body, i);
      } catch (...) {
        failure.keep(i);
      }
    }
  }
  failure.rethrow();
}

std::int64_t weighted_share_begin(std::span<const std::int64_t> sums, std::int64_t t, std::int64_t n) {
  if (t == n) return std::ssize(sums) - 1;
  const auto total = static_cast<double>(sums.back() - sums.front());
  const double share = total * static_cast<double>(t) / static_cast<double>(n);
  const std::int64_t before = sums.front() + static_cast<std::int64_t>(share);
  return std::lower_bound(sums.begin(), sums.end() - 1, before) - sums.begin();
}

void run_chunks(std::int64_t n_chunks, void* body, One one) {
  constexpr std::int64_t few = 4096;
  if (n_chunks <= few)
    run_one_by_one(n_chunks, body, one);
  else
    parallel_for(n_chunks, [&](std::int64_t c) { one(body, c); });
}

}  // namespace karst::detail
