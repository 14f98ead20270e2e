// SPDX-License-Identifier: BSD-3-Clause
// Interval arithmetic: every result holds all values that the operands can give, those of rounded arithmetic included.
//
// Source: R. E. Moore, R. B. Kearfott, M. J. Cloud, Introduction to Interval Analysis, SIAM (2009). Ends are moved
// outward by a few units in the last place, more than the rounding of the operations and of the functions of libm,
// instead of switching the rounding mode. No result holds NaN: where an operation says nothing it gives all numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace karst {

struct Interval {
  double lo = 0.0, hi = 0.0;

  constexpr Interval() = default;
  constexpr Interval(double x) : lo(x), hi(x) {}  // NOLINT: numbers are intervals
  constexpr Interval(double low, double high) : lo(low), hi(high) {}
  static constexpr Interval all() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  constexpr bool holds(double x) const { return lo <= x && x <= hi; }
  constexpr bool is_all() const {
    return lo < -std::numeric_limits<double>::max() && hi > std::numeric_limits<double>::max();
  }
  /// Largest magnitude.
  double most() const { return std::max(std::abs(lo), std::abs(hi)); }
};

/// The ends moved outward by `units` relative roundings of 1e-15.
inline Interval outward(double lo, double hi, double units = 1.0) {
  constexpr double largest = std::numeric_limits<double>::max();
  if (!(lo <= hi)) return Interval::all();  // NaN
  const double slack = 1e-15 * units;
  return {lo > largest ? largest : lo - slack * std::abs(lo), hi < -largest ? -largest : hi + slack * std::abs(hi)};
}

inline Interval hull(const Interval& a, const Interval& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

/// 0 · ∞ = 0: an end at infinity stands for numbers of any size.
inline double product_of_ends(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

inline Interval operator-(const Interval& a) { return {-a.hi, -a.lo}; }
inline Interval operator+(const Interval& a, const Interval& b) { return outward(a.lo + b.lo, a.hi + b.hi); }
inline Interval operator-(const Interval& a, const Interval& b) { return outward(a.lo - b.hi, a.hi - b.lo); }
inline Interval operator*(const Interval& a, const Interval& b) {
  const double p = product_of_ends(a.lo, b.lo), q = product_of_ends(a.lo, b.hi), r = product_of_ends(a.hi, b.lo),
               s = product_of_ends(a.hi, b.hi);
  return outward(std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s)));
}
/// All numbers when b holds 0.
inline Interval operator/(const Interval& a, const Interval& b) {
  if (b.holds(0.0)) return Interval::all();
  return a * outward(1.0 / b.hi, 1.0 / b.lo);
}

/// Functions of rising value: the ends suffice.
template <class F>
Interval of_ends(const Interval& u, F f) {
  return outward(f(u.lo), f(u.hi));
}

Interval sin(const Interval& u);
Interval cos(const Interval& u);
/// All numbers across a pole.
Interval tan(const Interval& u);
Interval cosh(const Interval& u);
Interval abs(const Interval& u);
/// uⁿ.
Interval power(const Interval& u, int n);
/// u^v for u > 0, or u >= 0 and constant v > 0.
Interval pow(const Interval& u, const Interval& v);
/// Angle of the point (x, y); from -π to π where the box meets the branch cut x <= 0, y = 0.
Interval atan2(const Interval& y, const Interval& x);

inline Interval square(const Interval& u) { return power(u, 2); }
inline Interval asin(const Interval& u) {
  return of_ends(u, [](double x) { return std::asin(x); });
}
inline Interval acos(const Interval& u) { return outward(std::acos(u.hi), std::acos(u.lo)); }
inline Interval atan(const Interval& u) {
  return of_ends(u, [](double x) { return std::atan(x); });
}
inline Interval sinh(const Interval& u) {
  return of_ends(u, [](double x) { return std::sinh(x); });
}
inline Interval tanh(const Interval& u) {
  return of_ends(u, [](double x) { return std::tanh(x); });
}
inline Interval asinh(const Interval& u) {
  return of_ends(u, [](double x) { return std::asinh(x); });
}
inline Interval acosh(const Interval& u) {
  return of_ends(u, [](double x) { return std::acosh(x); });
}
inline Interval atanh(const Interval& u) {
  return of_ends(u, [](double x) { return std::atanh(x); });
}
inline Interval exp(const Interval& u) {
  return of_ends(u, [](double x) { return std::exp(x); });
}
inline Interval log(const Interval& u) {
  return of_ends(u, [](double x) { return std::log(x); });
}
inline Interval log2(const Interval& u) {
  return of_ends(u, [](double x) { return std::log2(x); });
}
inline Interval log10(const Interval& u) {
  return of_ends(u, [](double x) { return std::log10(x); });
}
inline Interval sqrt(const Interval& u) {
  return of_ends(u, [](double x) { return std::sqrt(x); });
}

}  // namespace karst
