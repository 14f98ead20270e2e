// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/formula.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>

#include "eb/shapes/formula_rules.hpp"

namespace karst {
namespace {

using Op = FormulaOp;
constexpr std::size_t lanes = 32;

/// Value and gradient of one step at up to `lanes` points: [value, d/dx, d/dy, d/dz][point].
struct Row {
  alignas(64) std::array<std::array<double, lanes>, 4> v;
};

/// Formulas divide by zero and take roots of negative numbers: no reason for a trap that looks for our own mistakes.
class QuietArithmetic {
 public:
  QuietArithmetic() : trapped_(fegetexcept() != 0) {
    if (trapped_) std::feholdexcept(&before_);
  }
  ~QuietArithmetic() {
    if (trapped_) std::fesetenv(&before_);
  }
  QuietArithmetic(const QuietArithmetic&) = delete;
  QuietArithmetic& operator=(const QuietArithmetic&) = delete;

 private:
  bool trapped_;
  std::fenv_t before_;
};

/// slope · gradient; an infinite slope where the operand does not change (a root of x² + y² on the axis) adds nothing.
inline double along(double slope, double gradient) { return gradient == 0.0 ? 0.0 : slope * gradient; }

double compared(Op op, double a, double b) {
  switch (op) {
    case Op::less:
      return a < b ? 1.0 : 0.0;
    case Op::less_equal:
      return a <= b ? 1.0 : 0.0;
    case Op::equal:
      return a == b ? 1.0 : 0.0;
    case Op::not_equal:
      return a != b ? 1.0 : 0.0;
    case Op::both:
      return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    default:  // either
      return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
  }
}

/// Value and the slopes in both operands of the functions that are neither sums nor choices.
template <class T>
struct TwoSlopes {
  T value, a, b;
};
TwoSlopes<double> rule_of_two(Op op, double a, double b) {
  switch (op) {
    case Op::multiply:
      return {a * b, b, a};
    case Op::divide:
      return {a / b, 1.0 / b, -(a / b) / b};
    case Op::power: {
      const double value = std::pow(a, b);
      return {value, b == 0.0 ? 0.0 : b * std::pow(a, b - 1.0), a > 0.0 ? value * std::log(a) : 0.0};
    }
    default: {  // atan2
      const double r2 = a * a + b * b;
      return {std::atan2(a, b), b / r2, -a / r2};
    }
  }
}

/// The operand that a choice takes, per point.
template <class Takes>
void choose(const Row& yes, const Row& no, Row& out, std::size_t n, Takes takes_yes) {
  std::array<bool, lanes> first;
  for (std::size_t i = 0; i < n; ++i) first[i] = takes_yes(i);
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < n; ++i) out.v[c][i] = first[i] ? yes.v[c][i] : no.v[c][i];
}

void set_constant(double value, Row& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out.v[0][i] = value;
  for (std::size_t c = 1; c < 4; ++c)
    for (std::size_t i = 0; i < n; ++i) out.v[c][i] = 0.0;
}

void apply_one(const FormulaStep& step, const Row& a, Row& out, std::size_t n) {
  std::array<double, lanes> slope;
  const int exponent = static_cast<int>(step.number);
  for (std::size_t i = 0; i < n; ++i) {
    const ValueAndSlope<double> rule = rule_of(step.op, a.v[0][i], exponent);
    out.v[0][i] = rule.value;
    slope[i] = rule.slope;
  }
  for (std::size_t c = 1; c < 4; ++c)
    for (std::size_t i = 0; i < n; ++i) out.v[c][i] = along(slope[i], a.v[c][i]);
}

void apply_two(Op op, const Row& a, const Row& b, Row& out, std::size_t n) {
  std::array<double, lanes> of_a, of_b, value;
  for (std::size_t i = 0; i < n; ++i) {
    const TwoSlopes<double> rule = rule_of_two(op, a.v[0][i], b.v[0][i]);
    value[i] = rule.value, of_a[i] = rule.a, of_b[i] = rule.b;
  }
  for (std::size_t c = 1; c < 4; ++c)
    for (std::size_t i = 0; i < n; ++i) out.v[c][i] = along(of_a[i], a.v[c][i]) + along(of_b[i], b.v[c][i]);
  for (std::size_t i = 0; i < n; ++i) out.v[0][i] = value[i];
}

void apply(const FormulaStep& step, std::vector<Row>& rows, std::size_t n) {
  const auto in = [&](std::size_t k) -> const Row& { return rows[step.in[k]]; };
  Row& out = rows[step.out];
  switch (step.op) {
    case Op::add:
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t i = 0; i < n; ++i) out.v[c][i] = in(0).v[c][i] + in(1).v[c][i];
      return;
    case Op::subtract:
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t i = 0; i < n; ++i) out.v[c][i] = in(0).v[c][i] - in(1).v[c][i];
      return;
    case Op::multiply:
    case Op::divide:
    case Op::power:
    case Op::atan2:
      return apply_two(step.op, in(0), in(1), out, n);
    case Op::minimum:
      return choose(in(1), in(0), out, n, [&](std::size_t i) { return in(1).v[0][i] < in(0).v[0][i]; });
    case Op::maximum:
      return choose(in(1), in(0), out, n, [&](std::size_t i) { return in(0).v[0][i] < in(1).v[0][i]; });
    case Op::select:
      return choose(in(1), in(2), out, n, [&](std::size_t i) { return in(0).v[0][i] != 0.0; });
    default:
      break;
  }
  if (has_one_operand(step.op)) return apply_one(step, in(0), out, n);
  std::array<double, lanes> truth;
  for (std::size_t i = 0; i < n; ++i) truth[i] = compared(step.op, in(0).v[0][i], in(1).v[0][i]);
  set_constant(0.0, out, n);
  for (std::size_t i = 0; i < n; ++i) out.v[0][i] = truth[i];
}

/// The function has a value in all of u, and no jump.
FormulaBounds domain_of(Op op, const Interval& u) {
  FormulaBounds b;
  switch (op) {
    case Op::asin:
    case Op::acos:
      b.defined = u.lo >= -1.0 && u.hi <= 1.0;
      break;
    case Op::atanh:
      b.defined = u.lo > -1.0 && u.hi < 1.0;
      break;
    case Op::acosh:
      b.defined = u.lo >= 1.0;
      break;
    case Op::log:
    case Op::log2:
    case Op::log10:
      b.defined = u.lo > 0.0;
      break;
    case Op::sqrt:
      b.defined = u.lo >= 0.0;
      break;
    case Op::sign:
      b.continuous = !u.holds(0.0);
      break;
    case Op::rint:
      b.continuous = rounded(u.lo) == rounded(u.hi);
      break;
    default:
      break;
  }
  return b;
}

/// With slopes when `slopes` says so: the value alone takes a fraction of the time.
template <bool slopes>
FormulaBounds bounds_of_one(const FormulaStep& step, const FormulaBounds& a) {
  FormulaBounds out = domain_of(step.op, a.value);
  const int n = static_cast<int>(step.number);
  if (step.op == Op::integer_power && n < 0) out.defined = !a.value.holds(0.0);
  ValueAndSlope<Interval> rule{Interval::all(), Interval::all()};
  if (out.defined) rule = rule_of(step.op, a.value, n);
  if (step.op == Op::tan && rule.value.is_all()) out.continuous = false;
  out.value = rule.value;
  for (std::size_t d = 0; slopes && d < 3; ++d) out.slope[d] = rule.slope * a.slope[d];
  out.defined = out.defined && a.defined;
  out.continuous = out.continuous && a.continuous;
  return out;
}

template <bool slopes>
FormulaBounds bounds_of_two(Op op, const FormulaBounds& a, const FormulaBounds& b) {
  const Interval &u = a.value, &v = b.value;
  FormulaBounds out;
  TwoSlopes<Interval> rule{Interval::all(), Interval::all(), Interval::all()};
  switch (op) {
    case Op::add:
      rule = {u + v, 1.0, 1.0};
      break;
    case Op::subtract:
      rule = {u - v, 1.0, -1.0};
      break;
    case Op::multiply:
      rule = {u * v, v, u};
      break;
    case Op::divide:
      out.defined = !v.holds(0.0);
      if (out.defined) rule = {u / v, 1.0 / v, -(u / v) / v};
      break;
    case Op::power: {
      const bool fixed = v.lo == v.hi;
      out.defined = u.lo > 0.0 || (u.lo >= 0.0 && fixed && v.lo > 0.0);
      if (!out.defined) break;
      rule = {pow(u, v), 0.0, 0.0};
      rule.a = u.lo > 0.0 ? v * pow(u, v - 1.0) : Interval::all();
      if (!fixed) rule.b = rule.value * log(u);
      break;
    }
    default: {  // atan2
      const Interval r2 = square(u) + square(v);
      out.continuous = !(v.lo <= 0.0 && u.holds(0.0));
      rule = {atan2(u, v), v / r2, -u / r2};
    }
  }
  out.value = rule.value;
  for (std::size_t d = 0; slopes && d < 3; ++d) out.slope[d] = rule.a * a.slope[d] + rule.b * b.slope[d];
  out.defined = out.defined && a.defined && b.defined;
  out.continuous = out.continuous && a.continuous && b.continuous;
  return out;
}

/// All that either of two may be.
FormulaBounds either_of(const FormulaBounds& a, const FormulaBounds& b) {
  FormulaBounds out{hull(a.value, b.value), {}, a.defined && b.defined, a.continuous && b.continuous};
  for (std::size_t d = 0; d < 3; ++d) out.slope[d] = hull(a.slope[d], b.slope[d]);
  return out;
}

FormulaBounds bounds_of_minimum(const FormulaBounds& a, const FormulaBounds& b) {
  FormulaBounds out = a.value.hi < b.value.lo ? a : b.value.hi < a.value.lo ? b : either_of(a, b);
  out.value.hi = std::min(a.value.hi, b.value.hi);
  out.defined = a.defined && b.defined;
  return out;
}

FormulaBounds negated(FormulaBounds b) {
  b.value = -b.value;
  for (Interval& s : b.slope) s = -s;
  return b;
}

/// 1 and 0 where the comparison is true and false everywhere; else between them.
Interval truth_of(Op op, const Interval& a, const Interval& b) {
  const auto truth = [](bool always, bool never) {
    return always ? Interval(1.0) : never ? Interval(0.0) : Interval(0.0, 1.0);
  };
  const bool apart = a.hi < b.lo || b.hi < a.lo, same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
  const auto is_zero = [](const Interval& u) { return u.lo == 0.0 && u.hi == 0.0; };
  switch (op) {
    case Op::less:
      return truth(a.hi < b.lo, a.lo >= b.hi);
    case Op::less_equal:
      return truth(a.hi <= b.lo, a.lo > b.hi);
    case Op::equal:
      return truth(same, apart);
    case Op::not_equal:
      return truth(apart, same);
    case Op::both:
      return truth(!a.holds(0.0) && !b.holds(0.0), is_zero(a) || is_zero(b));
    default:  // either
      return truth(!a.holds(0.0) || !b.holds(0.0), is_zero(a) && is_zero(b));
  }
}

template <bool slopes>
FormulaBounds bounds_of(const FormulaStep& step, const std::vector<FormulaBounds>& slots) {
  const auto in = [&](std::size_t k) -> const FormulaBounds& { return slots[step.in[k]]; };
  switch (step.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::power:
    case Op::atan2:
      return bounds_of_two<slopes>(step.op, in(0), in(1));
    case Op::minimum:
      return bounds_of_minimum(in(0), in(1));
    case Op::maximum:
      return negated(bounds_of_minimum(negated(in(0)), negated(in(1))));
    case Op::select: {
      const Interval& condition = in(0).value;
      const bool yes = !condition.holds(0.0), no = condition.lo == 0.0 && condition.hi == 0.0;
      FormulaBounds out = yes ? in(1) : no ? in(2) : either_of(in(1), in(2));
      out.defined = out.defined && in(0).defined;
      out.continuous = out.continuous && (yes || no);
      return out;
    }
    default:
      break;
  }
  if (has_one_operand(step.op)) return bounds_of_one<slopes>(step, in(0));
  FormulaBounds out{truth_of(step.op, in(0).value, in(1).value), {}, in(0).defined && in(1).defined, true};
  out.continuous = out.value.lo == out.value.hi;
  return out;
}

template <bool slopes>
FormulaBounds natural_bounds(const std::vector<FormulaStep>& steps, std::size_t result,
                             std::vector<FormulaBounds>& slots, const Vec3& lo, const Vec3& hi) {
  for (const FormulaStep& step : steps) {
    FormulaBounds now;
    if (step.op == Op::constant) {
      now.defined = std::isfinite(step.number);
      now.value = now.defined ? Interval(step.number) : Interval::all();
    } else if (step.op == Op::variable) {
      const auto d = static_cast<std::size_t>(step.number);
      now.value = {lo.v[d], hi.v[d]};
      now.slope[d] = 1.0;
    } else {
      now = bounds_of<slopes>(step, slots);
    }
    slots[step.out] = now;
  }
  return slots[result];
}

}  // namespace

double formula_value(FormulaOp op, const std::array<double, 3>& in, double number) {
  const QuietArithmetic quiet;
  std::vector<Row> rows(4);
  for (std::size_t k = 0; k < 3; ++k) set_constant(in[k], rows[k], 1);
  apply({op, 3, {0, 1, 2}, number}, rows, 1);
  return rows[3].v[0][0];
}

namespace {

/// Of a point: a letter for each entry.
FormulaVariables variables_of_point(std::string_view letters, bool at_a_time) {
  std::vector<std::string> names;
  for (const char letter : letters) names.emplace_back(1, letter);
  if (letters == "t") return {names, "formula of the time", "t in seconds"};
  return {names, "geometry expression", at_a_time ? "x, y, z in metres, t in seconds" : "x, y, z in metres"};
}

/// Steps at up to `lanes` points; read(variable, row) sets the row of a variable, whose slopes are 0.
template <class Read>
void run_steps(std::span<const FormulaStep> steps, std::vector<Row>& rows, std::size_t n, Read&& read) {
  for (const FormulaStep& step : steps) {
    if (step.op != Op::constant && step.op != Op::variable) {
      apply(step, rows, n);
      continue;
    }
    Row& out = rows[step.out];
    set_constant(step.number, out, n);
    if (step.op == Op::variable) read(static_cast<std::size_t>(step.number), out);
  }
}

std::vector<Row>& rows_of_thread(std::size_t n) {
  thread_local std::vector<Row> rows;
  if (rows.size() < n) rows.resize(n);
  return rows;
}

}  // namespace

Formula::Formula(const std::string& text, std::string_view variables, std::optional<double> time) : text_(text) {
  CompiledFormula compiled = compile_formula(text, variables_of_point(variables, time.has_value()), time);
  steps_ = std::move(compiled.steps);
  n_slots_ = compiled.n_slots;
  result_ = compiled.result;
}

void Formula::evaluate(std::span<const Vec3> x, std::span<double> value, std::span<Vec3> gradient) const {
  const QuietArithmetic quiet;
  std::vector<Row>& rows = rows_of_thread(n_slots_);
  for (std::size_t first = 0; first < x.size(); first += lanes) {
    const std::size_t n = std::min(lanes, x.size() - first);
    run_steps(steps_, rows, n, [&](std::size_t d, Row& out) {
      for (std::size_t i = 0; i < n; ++i) out.v[0][i] = x[first + i].v[d];
      for (std::size_t i = 0; i < n; ++i) out.v[d + 1][i] = 1.0;
    });
    const Row& f = rows[result_];
    for (std::size_t i = 0; i < n; ++i) {
      value[first + i] = f.v[0][i];
      gradient[first + i] = {f.v[1][i], f.v[2][i], f.v[3][i]};
    }
  }
}

NamedFormula::NamedFormula(const std::string& text, const FormulaVariables& variables)
    : compiled_(compile_formula(text, variables)) {}

bool NamedFormula::uses(std::size_t variable) const {
  return std::ranges::any_of(compiled_.steps, [&](const FormulaStep& s) {
    return s.op == Op::variable && static_cast<std::size_t>(s.number) == variable;
  });
}

void NamedFormula::evaluate(std::span<const std::span<const double>> columns, std::span<double> value) const {
  const QuietArithmetic quiet;
  std::vector<Row>& rows = rows_of_thread(compiled_.n_slots);
  for (std::size_t first = 0; first < value.size(); first += lanes) {
    const std::size_t n = std::min(lanes, value.size() - first);
    run_steps(compiled_.steps, rows, n,
              [&](std::size_t c, Row& out) { std::copy_n(columns[c].begin() + first, n, out.v[0].begin()); });
    std::copy_n(rows[compiled_.result].v[0].begin(), n, value.begin() + first);
  }
}

FormulaBounds Formula::bounds(const Vec3& lo, const Vec3& hi) const {
  const QuietArithmetic quiet;
  thread_local std::vector<FormulaBounds> slots;
  if (slots.size() < n_slots_) slots.resize(n_slots_);
  FormulaBounds out = natural_bounds<true>(steps_, result_, slots, lo, hi);
  if (!out.value.holds(0.0) || !out.continuous || !out.defined) return out;
  const Vec3 middle = 0.5 * (lo + hi);
  Interval mean = natural_bounds<false>(steps_, result_, slots, middle, middle).value;
  for (int d = 0; d < 3; ++d) mean = mean + out.slope[d] * (Interval(lo[d], hi[d]) - Interval(middle[d]));
  out.value = {std::max(out.value.lo, mean.lo), std::min(out.value.hi, mean.hi)};
  return out;
}

}  // namespace karst
