// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/interval.hpp"

#include <numbers>

namespace karst {
namespace {

constexpr double pi = std::numbers::pi;

/// True unless no `phase` + n · `period` lies in u; u beyond 1e6 is not looked at.
bool holds_one_of(const Interval& u, double phase, double period) {
  const double slack = 1e-15 * (1.0 + u.most());
  const double n = std::ceil((u.lo - slack - phase) / period);
  return !(u.most() < 1e6) || phase + n * period <= u.hi + slack;
}

/// A wave of amplitude 1 and period 2π with its maximum at `top`.
template <class F>
Interval wave(const Interval& u, double top, F f) {
  if (!(u.most() < 1e6) || u.hi - u.lo >= 2.0 * pi) return {-1.0, 1.0};
  const double a = f(u.lo), b = f(u.hi);
  Interval range = outward(std::min(a, b), std::max(a, b));
  if (holds_one_of(u, top, 2.0 * pi)) range.hi = 1.0;
  if (holds_one_of(u, top + pi, 2.0 * pi)) range.lo = -1.0;
  return range;
}

}  // namespace

Interval sin(const Interval& u) {
  return wave(u, 0.5 * pi, [](double x) { return std::sin(x); });
}
Interval cos(const Interval& u) {
  return wave(u, 0.0, [](double x) { return std::cos(x); });
}

Interval tan(const Interval& u) {
  if (u.hi - u.lo >= pi || holds_one_of(u, 0.5 * pi, pi)) return Interval::all();
  return of_ends(u, [](double x) { return std::tan(x); });
}

Interval cosh(const Interval& u) {
  const Interval size = abs(u);
  return of_ends(size, [](double x) { return std::cosh(x); });
}

Interval abs(const Interval& u) {
  if (u.lo >= 0.0) return u;
  if (u.hi <= 0.0) return -u;
  return {0.0, u.most()};
}

Interval power(const Interval& u, int n) {
  if (n < 0) return Interval(1.0) / power(u, -n);
  const auto f = [n](double x) { return std::pow(x, n); };
  const Interval base = n % 2 == 0 ? abs(u) : u;
  return outward(f(base.lo), f(base.hi), 1.0 + n);  // as many roundings as products
}

Interval pow(const Interval& u, const Interval& v) {
  const double p = std::pow(u.lo, v.lo), q = std::pow(u.lo, v.hi), r = std::pow(u.hi, v.lo), s = std::pow(u.hi, v.hi);
  return outward(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
}

Interval atan2(const Interval& y, const Interval& x) {
  if (x.lo <= 0.0 && y.holds(0.0)) return outward(-pi, pi);
  const double p = std::atan2(y.lo, x.lo), q = std::atan2(y.lo, x.hi), r = std::atan2(y.hi, x.lo),
               s = std::atan2(y.hi, x.hi);
  return outward(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
}

}  // namespace karst
