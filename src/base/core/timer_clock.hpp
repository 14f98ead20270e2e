// SPDX-License-Identifier: BSD-3-Clause
// The clock of the timers: the processor's time stamp counter where it runs at one constant rate (x86), which takes
// half the time of the system's clock to read; the system's steady clock elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace karst::detail {

using Ticks = std::int64_t;

inline Ticks steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__x86_64__)
/// The counter neither stops nor changes its rate (Intel SDM vol. 3B 17.17: CPUID 80000007H, EDX bit 8).
inline bool counter_is_constant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d >> 8U & 1U) != 0;
}
inline const bool use_counter = counter_is_constant();
inline Ticks ticks_now() { return use_counter ? static_cast<Ticks>(__rdtsc()) : steady_nanoseconds(); }
#else
inline Ticks ticks_now() { return steady_nanoseconds(); }
#endif

/// A moment on both clocks, for the length of a tick.
struct ClockPair {
  Ticks ticks = ticks_now();
  Ticks nanoseconds = steady_nanoseconds();
};

/// Length of a tick from the two clocks since the start [s]; waits until 5 ms have passed since then, so that the
/// result is right to 1e-5 or better.
inline double seconds_per_tick(const ClockPair& start) {
  ClockPair now;
  while (now.nanoseconds - start.nanoseconds < 5000000) now = ClockPair{};
  return 1e-9 * static_cast<double>(now.nanoseconds - start.nanoseconds) / static_cast<double>(now.ticks - start.ticks);
}

}  // namespace karst::detail
