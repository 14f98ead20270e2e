// SPDX-License-Identifier: BSD-3-Clause
// From the text of a formula to its steps: recursive descent, equal steps made once, slots given by last use.
#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <numbers>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "eb/shapes/formula.hpp"

namespace karst {
namespace {

using Op = FormulaOp;

/// Steps in order; their slots are their positions until assign_slots.
class Steps {
 public:
  std::int32_t add(Op op, std::array<std::int32_t, 3> in, double number) {
    const int n_operands = in[2] >= 0 ? 3 : in[1] >= 0 ? 2 : in[0] >= 0 ? 1 : 0;
    const bool known = n_operands > 0 && std::all_of(in.begin(), in.begin() + n_operands,
                                                     [&](std::int32_t i) { return all_[i].op == Op::constant; });
    if (known) {
      std::array<double, 3> values{};
      for (int i = 0; i < n_operands; ++i) values[i] = all_[in[i]].number;
      return constant(formula_value(op, values, number));
    }
    const auto [at, is_new] =
        made_.try_emplace({op, in, std::bit_cast<std::uint64_t>(number)}, static_cast<std::int32_t>(all_.size()));
    if (is_new) all_.push_back({op, at->second, in, number});
    return at->second;
  }
  std::int32_t constant(double value) { return add(Op::constant, {-1, -1, -1}, value); }
  std::optional<double> constant_at(std::int32_t i) const {
    const FormulaStep& step = all_[i];
    return step.op == Op::constant ? std::optional(step.number) : std::nullopt;
  }

  /// The steps that the result needs, with as few slots as are in use at a time.
  CompiledFormula finish(std::int32_t result) const {
    std::vector<std::int32_t> last_use(all_.size(), -1), slot(all_.size(), -1), idle;
    last_use[result] = static_cast<std::int32_t>(all_.size());
    for (std::size_t s = all_.size(); s-- > 0;)
      if (last_use[s] >= 0)
        for (const std::int32_t i : all_[s].in)
          if (i >= 0) last_use[i] = std::max(last_use[i], static_cast<std::int32_t>(s));
    CompiledFormula out{{}, 0, 0};
    for (std::size_t s = 0; s < all_.size(); ++s) {
      if (last_use[s] < 0) continue;
      FormulaStep step = all_[s];
      if (idle.empty()) idle.push_back(static_cast<std::int32_t>(out.n_slots++));
      slot[s] = step.out = idle.back();
      idle.pop_back();
      for (std::size_t k = 0; k < 3; ++k) {
        const std::int32_t i = step.in[k];
        if (i < 0) continue;
        step.in[k] = slot[i];
        const bool again = std::find(all_[s].in.begin(), all_[s].in.begin() + k, i) != all_[s].in.begin() + k;
        if (!again && last_use[i] == static_cast<std::int32_t>(s)) idle.push_back(step.in[k]);
      }
      out.steps.push_back(step);
    }
    out.result = slot[result];
    return out;
  }

 private:
  std::vector<FormulaStep> all_;
  std::map<std::tuple<Op, std::array<std::int32_t, 3>, std::uint64_t>, std::int32_t> made_;
};

struct Function {
  std::string_view name;
  Op op;
  int operands;  ///< 0: any number, taken two by two
};
constexpr std::array<Function, 26> functions{
    {{"sin", Op::sin, 1},     {"cos", Op::cos, 1},     {"tan", Op::tan, 1},     {"asin", Op::asin, 1},
     {"acos", Op::acos, 1},   {"atan", Op::atan, 1},   {"sinh", Op::sinh, 1},   {"cosh", Op::cosh, 1},
     {"tanh", Op::tanh, 1},   {"asinh", Op::asinh, 1}, {"acosh", Op::acosh, 1}, {"atanh", Op::atanh, 1},
     {"exp", Op::exp, 1},     {"log", Op::log, 1},     {"ln", Op::log, 1},      {"log2", Op::log2, 1},
     {"log10", Op::log10, 1}, {"sqrt", Op::sqrt, 1},   {"abs", Op::abs, 1},     {"sign", Op::sign, 1},
     {"rint", Op::rint, 1},   {"atan2", Op::atan2, 2}, {"min", Op::minimum, 0}, {"max", Op::maximum, 0},
     {"sum", Op::add, 0},     {"avg", Op::add, 0}}};

constexpr int deepest = 200;  // nested brackets, signs and powers: each is a call within a call

class Parser {
 public:
  Parser(const std::string& text, const FormulaVariables& variables, std::optional<double> time)
      : text_(text), variables_(variables), time_(time) {}

  CompiledFormula run() {
    const std::int32_t result = choice();
    skip_spaces();
    if (at_ < text_.size()) {
      if (text_[at_] == ',') fail("gives several values separated by commas; one is needed");
      if (text_[at_] == '=') fail("assigns a value; compare with == instead");
      fail("an operator or the end was expected");
    }
    return steps_.finish(result);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail(what, at_); }
  [[noreturn]] void fail(const std::string& what, std::size_t at) const {
    constexpr std::size_t shown = 60;
    const std::string all = text_.size() <= 2 * shown ? text_ : text_.substr(0, 2 * shown) + "...";
    const std::string near = at < text_.size() ? fmt::format("near \"{}\"", text_.substr(at, 20)) : "at its end";
    throw Error(
        fmt::format("{} \"{}\": {} (character {}, {}); allowed are {}, numbers, + - * / ^, comparisons, && || ?:, "
                    "functions such as "
                    "sin, sqrt, abs, min, max, and _pi",
                    variables_.kind, all, what, at + 1, near, variables_.allowed));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  /// Reads the word if it comes next.
  bool take(std::string_view word) {
    skip_spaces();
    if (std::string_view(text_).substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  char next() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > deepest) parser.fail(fmt::format("is nested more than {} deep", deepest));
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  std::int32_t one(Op op, std::int32_t a) { return steps_.add(op, {a, -1, -1}, 0.0); }
  std::int32_t two(Op op, std::int32_t a, std::int32_t b) { return steps_.add(op, {a, b, -1}, 0.0); }

  std::int32_t choice() {
    const Deeper deeper(*this);
    const std::int32_t condition = either();
    if (!take("?")) return condition;
    const std::int32_t yes = choice();
    if (!take(":")) fail("\":\" was expected, as in condition ? a : b");
    return steps_.add(Op::select, {condition, yes, choice()}, 0.0);
  }
  std::int32_t either() {
    std::int32_t a = both();
    while (take("||")) a = two(Op::either, a, both());
    return a;
  }
  std::int32_t both() {
    std::int32_t a = comparison();
    while (take("&&")) a = two(Op::both, a, comparison());
    return a;
  }
  std::int32_t comparison() {
    std::int32_t a = sum();
    for (;;) {
      if (take("<="))
        a = two(Op::less_equal, a, sum());
      else if (take(">="))
        a = two(Op::less_equal, sum(), a);
      else if (take("=="))
        a = two(Op::equal, a, sum());
      else if (take("!="))
        a = two(Op::not_equal, a, sum());
      else if (take("<"))
        a = two(Op::less, a, sum());
      else if (take(">"))
        a = two(Op::less, sum(), a);
      else
        return a;
    }
  }
  std::int32_t sum() {
    std::int32_t a = product();
    for (;;) {
      if (take("+"))
        a = two(Op::add, a, product());
      else if (take("-"))
        a = two(Op::subtract, a, product());
      else
        return a;
    }
  }
  std::int32_t product() {
    std::int32_t a = signed_power();
    for (;;) {
      if (take("*"))
        a = two(Op::multiply, a, signed_power());
      else if (take("/"))
        a = two(Op::divide, a, signed_power());
      else
        return a;
    }
  }
  std::int32_t signed_power() {
    const Deeper deeper(*this);
    if (take("-")) return one(Op::negate, signed_power());
    if (take("+")) return signed_power();
    const std::int32_t base = primary();
    return take("^") ? raised(base, signed_power()) : base;
  }
  std::int32_t raised(std::int32_t base, std::int32_t exponent) {
    constexpr double largest = 32.0;
    const std::optional<double> n = steps_.constant_at(exponent);
    if (!n || std::abs(*n) > largest || *n != std::nearbyint(*n)) return two(Op::power, base, exponent);
    if (*n == 0.0) return steps_.constant(1.0);
    return *n == 1.0 ? base : steps_.add(Op::integer_power, {base, -1, -1}, *n);
  }

  std::int32_t primary() {
    const char c = next();
    if (take("(")) {
      const std::int32_t inside = choice();
      if (next() == ',') fail("there is a comma outside the arguments of a function");
      if (!take(")")) fail("\")\" was expected");
      return inside;
    }
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if (is_letter(c)) return name();
    if (c == '\0') fail("ends where a value was expected");
    fail("a value was expected");
  }

  std::int32_t number() {
    double value = 0.0;
    const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (failure != std::errc{}) fail("is not a number, or is out of range");
    at_ = end - text_.data();
    return steps_.constant(value);
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_in_name(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

  std::int32_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (next() != '(') {
      if (const auto found = std::ranges::find(variables_.names, word); found != variables_.names.end())
        return steps_.add(Op::variable, {-1, -1, -1}, static_cast<double>(found - variables_.names.begin()));
      if (time_ && word == "t") return steps_.constant(*time_);
      if (word == "_pi") return steps_.constant(std::numbers::pi);
      if (word == "_e") return steps_.constant(std::numbers::e);
    }
    const auto f = std::find_if(functions.begin(), functions.end(), [&](const Function& g) { return g.name == word; });
    if (f == functions.end()) unknown(word, begin);
    if (!take("(")) fail(fmt::format("the function {} needs its arguments in parentheses", word), begin);
    return called(*f, begin);
  }

  [[noreturn]] void unknown(const std::string& word, std::size_t begin) const {
    std::vector<std::string> names = variables_.names;
    names.emplace_back("_pi");
    names.emplace_back("_e");
    for (const Function& f : functions) names.emplace_back(f.name);
    const std::string near = nearest(word, names);
    fail(fmt::format("{} is unknown{}", word, near.empty() ? "" : fmt::format(", did you mean {}?", near)), begin);
  }

  std::int32_t called(const Function& f, std::size_t begin) {
    std::int32_t result = choice();
    int given = 1;
    for (; take(","); ++given) {
      const std::int32_t argument = choice();
      if (f.operands != 1) result = two(f.op, result, argument);
    }
    if (!take(")")) fail("\")\" or a comma was expected");
    if (f.operands > 0 && given != f.operands)
      fail(fmt::format("the function {} takes {} argument{}, not {}", f.name, f.operands, f.operands == 1 ? "" : "s",
                       given),
           begin);
    if (f.operands == 1) return one(f.op, result);
    return f.name == "avg" ? two(Op::divide, result, steps_.constant(given)) : result;
  }

  const std::string& text_;
  const FormulaVariables& variables_;
  std::optional<double> time_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Steps steps_;
};

}  // namespace

CompiledFormula compile_formula(const std::string& text, const FormulaVariables& variables,
                                std::optional<double> time) {
  return Parser(text, variables, time).run();
}

}  // namespace karst
