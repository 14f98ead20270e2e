// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/expression.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::expression_test {
namespace {

using test::error_of;

double at(const LevelSet& s, const Vec3& x) { return (*s.local(x, x))(x); }

// f = k (x - x0) has constant slope: the quotient is the exact distance, whatever the unit of f.
TEST(Expression, APlaneIsExact) {
  const double h0 = 1e-5;
  for (const char* text : {"x - 2e-4", "1000*(x - 2e-4)"}) {
    const auto s = make_expression(text, h0);
    EXPECT_NEAR(at(*s, {23.5, 1, 2}), 3.5, 1e-10);
    EXPECT_NEAR(at(*s, {12.0, 1, 2}), -8.0, 1e-10);
  }
}

// φ is a distance to first order: the error of a sphere's φ at distance d is d²/(2R).
TEST(Expression, ASphereIsADistanceToFirstOrder) {
  const auto s = make_expression("sqrt(x^2 + y^2 + z^2)^2 - 100", 1.0);
  for (const double d : {1.0, 0.5, 0.25}) {
    const double error = at(*s, {(10.0 + d) * 0.6, 0, (10.0 + d) * 0.8}) - d;
    EXPECT_NEAR(error, -d * d / (2.0 * (10.0 + d)), 1e-8);
  }
  EXPECT_NEAR(at(*s, {6, 0, 8}), 0.0, 1e-12);
}

TEST(Expression, IsCutOffWhereTheGradientVanishes) {
  const auto s = make_expression("x^2 + y^2 + z^2 - 100", 1.0);
  EXPECT_DOUBLE_EQ(at(*s, {0, 0, 0}), -16.0);
  EXPECT_DOUBLE_EQ(at(*make_expression("1", 1.0), {3, 3, 3}), 16.0);
  EXPECT_DOUBLE_EQ(at(*make_expression("0*x", 1.0), {3, 3, 3}), 0.0);
}

TEST(Expression, StatesItsSmoothness) {
  const Smoothness s = make_expression("x", 1.0)->smoothness();
  EXPECT_EQ(s.lipschitz, 0.0);
  EXPECT_EQ(s.sample_spacing, 1.0 / 32.0);
  EXPECT_TRUE(s.bounds_signs);
}

TEST(Expression, ThreadsDoNotDisturbEachOther) {
  const auto s = make_expression("sin(x)*cos(y) + z*z - 3", 1.0);
  const auto shared = s->local({}, Vec3::all(10));
  std::atomic<int> wrong{0};
  const int before = n_threads();
  set_n_threads(4);
  parallel_for_dynamic(200, [&](std::int64_t i) {
    const Vec3 x{0.1 * static_cast<double>(i), 0.2, 1.5 + 0.01 * static_cast<double>(i)};
    const double first = at(*s, x);
    for (int n = 0; n < 20; ++n) {
      if ((*shared)(x) != first) ++wrong;
    }
  });
  set_n_threads(before);
  EXPECT_EQ(wrong, 0);
}

TEST(Expression, ErrorsShowTextAndPlace) {
  const auto error = [](const std::string& text) { return error_of([&] { make_expression(text, 1.0); }); };
  for (const char* text : {"x +* y", "x + radius", "sin(x", "", "x = 3", "x, y", "x y"}) {
    const std::string message = error(text);
    EXPECT_NE(message.find(fmt::format("\"{}\"", text)), std::string::npos) << text << ": " << message;
  }
  EXPECT_NE(error("x + radius").find("character 5"), std::string::npos) << error("x + radius");
  EXPECT_NE(error("x + radius").find("radius"), std::string::npos);
  EXPECT_NE(error_of([] { make_expression("x", 0.0); }).find("> 0"), std::string::npos);
}

TEST(Expression, NotANumberIsAnErrorWithThePoint) {
  const auto s = make_expression("sqrt(x)", 0.5);
  EXPECT_NO_THROW(at(*s, {4, 0, 0}));
  const std::string message = error_of([&] { at(*s, {-4, 2, 0}); });
  EXPECT_NE(message.find("x = -2, y = 1"), std::string::npos) << message;
}

}  // namespace
}  // namespace karst::expression_test
