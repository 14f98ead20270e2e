// SPDX-License-Identifier: BSD-3-Clause
// A formula f(x, y, z) compiled to a list of steps that gives values, gradients and bounds.
//
// Gradients come by forward differentiation, bounds by interval arithmetic on the same steps: value and gradient of
// every step are known together (A. Griewank & A. Walther, Evaluating Derivatives, SIAM 2008, chapter 3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/math/triple.hpp"
#include "eb/shapes/interval.hpp"

namespace karst {

enum class FormulaOp : std::uint8_t {
  // clang-format off
  constant, variable,
  negate, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, log2, log10, sqrt, abs,
  sign, rint, integer_power,
  add, subtract, multiply, divide, power, atan2, minimum, maximum,
  less, less_equal, equal, not_equal, both, either,
  select
  // clang-format on
};

/// One operation. Slots hold values; several steps share one, one after the other.
struct FormulaStep {
  FormulaOp op;
  std::int32_t out;                ///< slot of the result
  std::array<std::int32_t, 3> in;  ///< slots of the operands: as many as the operation has
  double number;                   ///< value of a constant; number of a variable; exponent of integer_power
};

/// What is certain of a formula in a box. Slopes bound the gradient where there is one.
struct FormulaBounds {
  Interval value;
  std::array<Interval, 3> slope;
  bool defined = true;     ///< f is a finite or infinite number in the whole box
  bool continuous = true;  ///< f has no jump: slopes bound its differences, too
};

/// A compiled formula. Evaluation is thread-safe and allocates once per thread.
class Formula {
 public:
  /// The language: numbers, x y z, _pi _e, + - * / ^, comparisons < <= > >= == !=, && ||, condition ? a : b, and the
  /// functions sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log (natural) ln log2 log10 sqrt abs
  /// sign rint of one argument, atan2(y, x), and min max sum avg of any number. Truth is 1 and 0; -x^2 is -(x^2);
  /// 2^3^2 is 2^(3^2). Throws Error with the place of what it does not understand.
  /// @param variables  one letter each for the entries of a point: "t" is a formula of the time alone
  /// @param time       t beside other variables: a constant of this value
  explicit Formula(const std::string& text, std::string_view variables = "xyz", std::optional<double> time = {});

  /// Values and gradients. Where f has a kink the gradient is that of one side.
  /// @param x             points
  /// @param[out] value    one per point; may be infinite or NaN
  /// @param[out] gradient one per point; 0 · ∞ counts as 0
  void evaluate(std::span<const Vec3> x, std::span<double> value, std::span<Vec3> gradient) const;

  /// Bounds in the box [lo, hi], by intervals and, where f is continuous, by the mean value theorem about the middle.
  FormulaBounds bounds(const Vec3& lo, const Vec3& hi) const;

  const std::string& text() const { return text_; }
  std::size_t n_steps() const { return steps_.size(); }

 private:
  std::string text_;
  std::vector<FormulaStep> steps_;
  std::size_t n_slots_ = 0;
  std::size_t result_ = 0;  ///< slot of f
};

/// What a formula may be of, and how messages call it.
struct FormulaVariables {
  std::vector<std::string> names;  ///< letters, digits and _, not beginning with a digit
  std::string kind;                ///< "geometry expression"
  std::string allowed;             ///< "x, y, z in metres"
};

/// Steps and slots of a formula.
struct CompiledFormula {
  std::vector<FormulaStep> steps;
  std::size_t n_slots, result;
};
/// Throws as Formula does.
/// @param time  t beside the variables: a constant of this value
CompiledFormula compile_formula(const std::string& text, const FormulaVariables& variables,
                                std::optional<double> time = {});

/// A formula of any number of variables, in the language of Formula, for values alone. Evaluation is thread-safe.
class NamedFormula {
 public:
  /// Throws Error with the place of what it does not understand.
  NamedFormula(const std::string& text, const FormulaVariables& variables);
  bool uses(std::size_t variable) const;
  /// @param columns     [variable] values, one per entry of `value`; of those that are not used empty
  /// @param[out] value  may be infinite or NaN
  void evaluate(std::span<const std::span<const double>> columns, std::span<double> value) const;

 private:
  CompiledFormula compiled_;
};

/// Result of one step with numbers for operands, NaN and infinities included.
double formula_value(FormulaOp op, const std::array<double, 3>& in, double number);

}  // namespace karst
