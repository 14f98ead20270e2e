// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/periodic_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {

namespace {

constexpr double most_difference = 0.01;  ///< of two periods
constexpr double least_amplitude = 1e-3;  ///< of the largest value

double value_at(std::span<const double> time, std::span<const double> values, double t) {
  const auto next = std::ranges::lower_bound(time, t) - time.begin();
  if (next == 0) return values.front();
  if (next == std::ssize(time)) return values.back();
  const double part = (t - time[next - 1]) / (time[next] - time[next - 1]);
  return values[next - 1] + part * (values[next] - values[next - 1]);
}

/// f(time, value) at begin, at the times in between, and at end.
void for_each_point(std::span<const double> time, std::span<const double> values, double begin, double end, auto&& f) {
  f(begin, value_at(time, values, begin));
  for (auto i = std::ranges::upper_bound(time, begin) - time.begin(); i < std::ssize(time) && time[i] < end; ++i)
    f(time[i], values[i]);
  f(end, value_at(time, values, end));
}

/// ∫ g(t, value) dt by the trapezoidal rule.
template <typename T>
T integral(std::span<const double> time, std::span<const double> values, double begin, double end, auto&& g) {
  T sum{}, last{};
  double t_last = begin;
  for_each_point(time, values, begin, end, [&](double t, double v) {
    const T now = g(t, v);
    sum += 0.5 * (t - t_last) * (now + last);
    last = now;
    t_last = t;
  });
  return sum;
}

/// Times of the last three rises through a level, the latest last; false: there are fewer.
bool last_rises(std::span<const double> time, std::span<const double> values, double level, std::array<double, 3>& at) {
  int found = 0;
  for (std::ptrdiff_t i = std::ssize(time) - 1; i > 0 && found < 3; --i)
    if (values[i - 1] < level && values[i] >= level)
      at[2 - found++] = time[i - 1] + (level - values[i - 1]) / (values[i] - values[i - 1]) * (time[i] - time[i - 1]);
  return found == 3;
}

struct Extent {
  double low, high;
};
Extent extent(std::span<const double> time, std::span<const double> values, double begin, double end) {
  Extent e{value_at(time, values, begin), value_at(time, values, begin)};
  for_each_point(time, values, begin, end, [&](double, double v) { e = {std::min(e.low, v), std::max(e.high, v)}; });
  return e;
}

}  // namespace

std::optional<PeriodicState> periodic_state(std::span<const double> time, std::span<const double> values) {
  if (time.size() < 4) return {};
  const double last = time.back(), half = 0.5 * (time.front() + last);
  const Extent all = extent(time, values, half, last);
  double level = 0.5 * (all.low + all.high);
  std::array<double, 3> rise{};
  for (int pass = 0; pass < 2; ++pass) {  // through the middle first, then through the mean
    if (!last_rises(time, values, level, rise)) return {};
    level = integral<double>(time, values, rise[0], rise[2], [](double, double v) { return v; }) / (rise[2] - rise[0]);
  }
  const Extent first = extent(time, values, rise[0], rise[1]), second = extent(time, values, rise[1], rise[2]);
  const double period = rise[2] - rise[1], amplitude = 0.5 * (second.high - second.low);
  const double largest = std::max(std::abs(second.high), std::abs(second.low));
  if (amplitude <= least_amplitude * largest || std::abs(rise[1] - rise[0] - period) > most_difference * period ||
      std::max(std::abs(first.low - second.low), std::abs(first.high - second.high)) > most_difference * amplitude)
    return {};
  PeriodicState state{rise[1], rise[2], 0.0, amplitude};
  state.mean = integral<double>(time, values, state.begin, state.end, [](double, double v) { return v; }) / period;
  return state;
}

std::complex<double> fourier_amplitude(const PeriodicState& state, std::span<const double> time,
                                       std::span<const double> values) {
  const double period = state.end - state.begin, omega = 2.0 * std::numbers::pi / period;
  return 2.0 / period * integral<std::complex<double>>(time, values, state.begin, state.end, [&](double t, double v) {
           return v * std::polar(1.0, -omega * t);
         });
}

}  // namespace karst
