// SPDX-License-Identifier: BSD-3-Clause
// Value and slope of the functions of one argument, for numbers and for intervals.
#pragma once

#include <cmath>
#include <numbers>

#include "eb/shapes/formula.hpp"

namespace karst {

template <class T>
struct ValueAndSlope {
  T value, slope;
};

inline double square(double u) { return u * u; }
inline double sign_of(double u) { return u > 0.0 ? 1.0 : u < 0.0 ? -1.0 : u; }
inline Interval sign_of(const Interval& u) { return {sign_of(u.lo), sign_of(u.hi)}; }
inline double rounded(double u) { return std::floor(u + 0.5); }
inline Interval rounded(const Interval& u) { return {rounded(u.lo), rounded(u.hi)}; }

/// uⁿ by products, as many as n has binary digits and ones.
inline double power(double u, int n) {
  double result = 1.0;
  for (unsigned bits = static_cast<unsigned>(std::abs(n)); bits != 0; bits >>= 1, u *= u)
    if ((bits & 1U) != 0) result *= u;
  return n < 0 ? 1.0 / result : result;
}

/// @param n  exponent of integer_power
template <class T>
ValueAndSlope<T> rule_of(FormulaOp op, const T& u, int n) {
  using std::abs, std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::cos, std::cosh, std::exp,
      std::log, std::log10, std::log2, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
  const T one(1.0);
  switch (op) {
    case FormulaOp::negate:
      return {-u, T(-1.0)};
    case FormulaOp::sin:
      return {sin(u), cos(u)};
    case FormulaOp::cos:
      return {cos(u), -sin(u)};
    case FormulaOp::tan: {
      const T t = tan(u);
      return {t, one + square(t)};
    }
    case FormulaOp::asin:
      return {asin(u), one / sqrt(one - square(u))};
    case FormulaOp::acos:
      return {acos(u), T(-1.0) / sqrt(one - square(u))};
    case FormulaOp::atan:
      return {atan(u), one / (one + square(u))};
    case FormulaOp::sinh:
      return {sinh(u), cosh(u)};
    case FormulaOp::cosh:
      return {cosh(u), sinh(u)};
    case FormulaOp::tanh: {
      const T t = tanh(u);
      return {t, one - square(t)};
    }
    case FormulaOp::asinh:
      return {asinh(u), one / sqrt(one + square(u))};
    case FormulaOp::acosh:
      return {acosh(u), one / sqrt(square(u) - one)};
    case FormulaOp::atanh:
      return {atanh(u), one / (one - square(u))};
    case FormulaOp::exp: {
      const T e = exp(u);
      return {e, e};
    }
    case FormulaOp::log:
      return {log(u), one / u};
    case FormulaOp::log2:
      return {log2(u), T(std::numbers::log2e) / u};
    case FormulaOp::log10:
      return {log10(u), T(std::numbers::log10e) / u};
    case FormulaOp::sqrt: {
      const T s = sqrt(u);
      return {s, T(0.5) / s};
    }
    case FormulaOp::abs:
      return {abs(u), sign_of(u)};
    case FormulaOp::sign:
      return {sign_of(u), T(0.0)};
    case FormulaOp::rint:
      return {rounded(u), T(0.0)};
    default:  // integer_power
      return {power(u, n), T(static_cast<double>(n)) * power(u, n - 1)};
  }
}

constexpr bool has_one_operand(FormulaOp op) { return op >= FormulaOp::negate && op <= FormulaOp::integer_power; }

}  // namespace karst
