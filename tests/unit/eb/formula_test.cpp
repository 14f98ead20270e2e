// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::formula_test {
namespace {

struct Sample {
  double value;
  Vec3 gradient;
};

Sample at(const Formula& f, const Vec3& x) {
  Sample s;
  f.evaluate({&x, 1}, {&s.value, 1}, {&s.gradient, 1});
  return s;
}
double value_of(const std::string& text) { return at(Formula(text), {}).value; }

TEST(Formula, FollowsTheRulesOfPrecedence) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, double>>{{"1 + 2*3", 7},
                                                                               {"2 - 3 - 4", -5},
                                                                               {"2/3/4", 1.0 / 6.0},
                                                                               {"-2^2", -4},
                                                                               {"2^3^2", 512},
                                                                               {"2^-2", 0.25},
                                                                               {"-2^-2^2", -0.0625},
                                                                               {"2*-3", -6},
                                                                               {"-3^2*2", -18},
                                                                               {"1<2<3", 1},
                                                                               {"3>2>1", 0},
                                                                               {"1+1==2", 1},
                                                                               {"2 || 0 && 0", 1},
                                                                               {"1 == 1 && 0.5", 1},
                                                                               {"1 ? 0 ? 4 : 5 : 6", 5},
                                                                               {"0 ? 1 : 0 ? 2 : 3", 3},
                                                                               {"1 > 2 ? 1/0 : 3", 3},
                                                                               {"(1 + 2)*(3)", 9},
                                                                               {".5 + 1.e1", 10.5},
                                                                               {"1e-3*2E+3", 2},
                                                                               {"5 != 5 || 2 >= 3", 0},
                                                                               {"max(3, 1, 2)", 3},
                                                                               {"min(1)", 1},
                                                                               {"sum(1, 2, 3)", 6},
                                                                               {"avg(1, 2, 6)", 3},
                                                                               {"rint(2.5)", 3},
                                                                               {"rint(-2.5)", -2},
                                                                               {"sign(-3)", -1},
                                                                               {"sign(0)", 0},
                                                                               {"log(_e) + ln(_e)", 2},
                                                                               {"_pi", std::numbers::pi}})
    EXPECT_DOUBLE_EQ(value_of(text), value) << text;
}

// Values are those of <cmath>; gradients those of central differences.
TEST(Formula, FunctionsAndTheirSlopes) {
  using F = double (*)(double);
  const std::vector<std::pair<std::string, F>> functions{
      {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh}, {"tanh", std::tanh}, {"asinh", std::asinh},
      {"acosh", std::acosh}, {"atanh", std::atanh}, {"exp", std::exp},   {"log", std::log},   {"ln", std::log},
      {"log2", std::log2},   {"log10", std::log10}, {"sqrt", std::sqrt}, {"abs", std::abs}};
  for (const auto& named : functions) {
    const std::string name = named.first;
    const auto f = named.second;
    const double shift = name == "acosh" ? 1.5 : 0.0;
    const Formula formula(name + "(" + std::to_string(shift) + " + 0.5*x*y - z)");
    const auto u = [&](const Vec3& x) { return f(shift + 0.5 * x[0] * x[1] - x[2]); };
    const Vec3 x{0.9, 1.1, 0.2};
    const Sample s = at(formula, x);
    EXPECT_DOUBLE_EQ(s.value, u(x)) << name;
    for (int d = 0; d < 3; ++d) {
      constexpr double step = 1e-5;
      Vec3 low = x, high = x;
      low[d] -= step, high[d] += step;
      EXPECT_NEAR(s.gradient[d], (u(high) - u(low)) / (2.0 * step), 1e-8) << name << " " << d;
    }
  }
}

TEST(Formula, SlopesOfOperations) {
  const Vec3 x{1.3, 0.7, 2.0};
  const auto expect = [&](const std::string& text, const Vec3& gradient) {
    const Sample s = at(Formula(text), x);
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(s.gradient[d], gradient[d], 1e-13) << text << " " << d;
  };
  expect("x*y/z", {0.35, 0.65, -0.2275});
  expect("x^y", {0.7 * std::pow(1.3, -0.3), std::pow(1.3, 0.7) * std::log(1.3), 0});
  expect("x^5 - z^-2", {5.0 * std::pow(1.3, 4), 0, 0.25});
  expect("(-x)^2", {2.6, 0, 0});
  expect("atan2(y, x)", {-0.7 / (1.69 + 0.49), 1.3 / (1.69 + 0.49), 0});
  expect("min(x, y, z) + max(x, y, z)", {0, 1, 1});
  expect("x < y ? x : 3*z", {0, 0, 3});
  expect("sqrt(x*x + y*y) + 0*x", {1.3 / std::hypot(1.3, 0.7), 0.7 / std::hypot(1.3, 0.7), 0});
  expect("rint(x) + sign(y) + (x < z)", {0, 0, 0});
  EXPECT_EQ(norm(at(Formula("sqrt(x^2 + y^2)"), {}).gradient), 0.0);  // the tip of a cone
}

TEST(Formula, ManyPointsGiveTheBitsOfOne) {
  const Formula f("sin(7*x)*cos(3*y) + max(z, x^3)/(1 + y*y) - (x > 0.5 ? exp(z) : abs(y - z))");
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<Vec3> x(77), gradient(77);
  std::vector<double> value(77);
  for (Vec3& p : x) p = {any(random), any(random), any(random)};
  f.evaluate(x, value, gradient);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Sample s = at(f, x[i]);
    EXPECT_EQ(s.value, value[i]);
    for (int d = 0; d < 3; ++d) EXPECT_EQ(s.gradient[d], gradient[i][d]);
  }
}

// Value and gradient at any point of a box lie within the bounds of the box, to the last bit of the value.
TEST(Formula, BoundsHoldInBoxesOfAllSizes) {
  const std::vector<std::string> texts{"sin(9*x)*cos(7*y) + sin(z)",
                                       "x*y*z - x^2 + y^3 - z^-1",
                                       "sqrt(x*x + y*y + z*z) - 1",
                                       "exp(-x*x)*log(2.5 + y)",
                                       "min(x, y*z, 0.3) + max(x - y, z)",
                                       "abs(x - y)*abs(z) - 0.2",
                                       "tan(x)*atan2(y, z)",
                                       "(2.1 + x)^(y*z)",
                                       "x < y ? sinh(z) : cosh(x) - 1",
                                       "asin(x/3)*acos(y/3) + atanh(z/3)",
                                       "rint(3*x) + sign(y)*tanh(z)",
                                       "cos(40*x) + log2(3 + y) - log10(4 + z)",
                                       "acosh(3.5 + x)/asinh(3 + y)",
                                       "(x > 0 && y > 0) || z > x ? x : -1"};
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> any(-2, 2), part(0, 1);
  int certain = 0;
  for (const std::string& text : texts) {
    const Formula f(text);
    for (int n = 0; n < 60; ++n) {
      const double width = std::pow(10.0, -4.0 * part(random));
      const Vec3 lo{any(random), any(random), any(random)}, hi = lo + Vec3::all(width);
      const FormulaBounds b = f.bounds(lo, hi);
      certain += !b.value.holds(0.0);
      for (int m = 0; m < 8 && b.defined; ++m) {
        Vec3 x = lo;
        for (int d = 0; d < 3; ++d) x[d] += width * (m < 2 ? m : part(random));
        for (int d = 0; d < 3; ++d) x[d] = std::min(x[d], hi[d]);
        const Sample s = at(f, x);
        EXPECT_TRUE(b.value.holds(s.value)) << text << ": " << s.value << " in " << b.value.lo << ", " << b.value.hi;
        for (int d = 0; d < 3; ++d) EXPECT_TRUE(b.slope[d].holds(s.gradient[d])) << text << " " << d;
      }
    }
  }
  EXPECT_GT(certain, 600);  // of 840: bounds are of use
}

// Where f is smooth the mean value theorem makes the excess of the bounds of second order: a quarter per halving.
TEST(Formula, BoundsAreOfSecondOrder) {
  const Formula f("x*x - x*y + sin(y)*z + 2");
  double before = 0.0;
  for (const double w : {0.2, 0.1, 0.05}) {
    const Vec3 lo{0.3, 0.4, 0.5}, hi = lo + Vec3::all(w);
    double least = 1e9, most = -1e9;
    for (int i = 0; i < 1000; ++i) {
      const double v = at(f, lo + w * Vec3{(i % 10) / 9.0, (i / 10 % 10) / 9.0, (i / 100) / 9.0}).value;
      least = std::min(least, v), most = std::max(most, v);
    }
    // Moved so that 0 lies within: bounds that tell the sign are not sharpened.
    const Formula moved("x*x - x*y + sin(y)*z - " + fmt::format("{}", 0.5 * (least + most) - 2.0));
    const FormulaBounds b = moved.bounds(lo, hi);
    const double excess = b.value.hi - b.value.lo - (most - least);
    EXPECT_GT(excess, 0.0);
    EXPECT_TRUE(before == 0.0 || excess < 0.4 * before) << excess << " after " << before;
    before = excess;
  }
}

TEST(Formula, BoundsSayWhereThereIsNoValueOrAJump) {
  const Vec3 lo{-1, -1, -1}, hi{1, 1, 1}, some{0.5, 0.5, 0.5};
  for (const char* text : {"sqrt(x)", "log(x)", "1/x", "asin(2*x)", "x^y", "x^-1", "acosh(x)", "1/0 + x"})
    EXPECT_FALSE(Formula(text).bounds(lo, hi).defined) << text;
  for (const char* text : {"sqrt(x)", "log(x)", "1/x", "asin(x)", "x^y", "x^-1"})
    EXPECT_TRUE(Formula(text).bounds(some, hi).defined) << text;
  for (const char* text : {"sign(x)", "rint(x)", "x > 0", "x > 0 ? 1 : -1", "tan(3*x)", "atan2(y, x)"}) {
    EXPECT_FALSE(Formula(text).bounds(lo, hi).continuous) << text;
  }
  EXPECT_TRUE(Formula("x > 0 ? 1 : 1/0").bounds(some, hi).defined);
}

TEST(Formula, LongAndDeepFormulasAreReadOrRefused) {
  std::string sum = "0";
  for (int i = 0; i < 20000; ++i) sum += fmt::format(" + {}*x", i % 7);
  EXPECT_NEAR(at(Formula(sum), {1, 0, 0}).value, 59997, 3);
  for (const char* piece : {"(", "-", "sin(", "2^", "1 ? "})
    EXPECT_NE(test::error_of([&] {
                std::string text;
                for (int i = 0; i < 100'000; ++i) text += piece;
                Formula f(text + "x");
              }).find("nested more than"),
              std::string::npos)
        << piece;
}

TEST(Formula, ErrorsNameTheWord) {
  const auto error = [](const std::string& text) { return test::error_of([&] { Formula f(text); }); };
  for (const auto& [text, words] :
       std::vector<std::pair<std::string, std::string>>{{"sni(x)", "did you mean sin?"},
                                                        {"x + radius", "radius is unknown"},
                                                        {"sin x", "needs its arguments"},
                                                        {"atan2(x)", "takes 2 arguments, not 1"},
                                                        {"sin(x, y)", "takes 1 argument, not 2"},
                                                        {"(x", "\")\" was expected"},
                                                        {"x = 3", "=="},
                                                        {"x, y", "commas"},
                                                        {"(x, y)", "comma"},
                                                        {"x y", "an operator"},
                                                        {"", "ends where"},
                                                        {"1 ? 2", "\":\""},
                                                        {"1e999", "is not a number"},
                                                        {"min()", "a value"},
                                                        {"2(x)", "an operator"},
                                                        {"x & y", "an operator"}})
    EXPECT_NE(error(text).find(words), std::string::npos) << text << ": " << error(text);
}

}  // namespace
}  // namespace karst::formula_test
