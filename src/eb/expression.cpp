// SPDX-License-Identifier: BSD-3-Clause
#include "eb/expression.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "base/error.hpp"

namespace karst {
namespace {

constexpr double reach = 16.0, half_step = 1.0 / 64.0;  // level-0 cells

/// One parser with its own variables: for one thread at a time.
class Formula {
 public:
  Formula(const std::string& text, double h0) : h0_(h0) {
    const Vec3 start{0.5 * h0, 0.25 * h0, 0.75 * h0};  // anywhere: to see whether the formula changes them
    x_ = start;
    try {
      parser_.DefineVar("x", &x_[0]);
      parser_.DefineVar("y", &x_[1]);
      parser_.DefineVar("z", &x_[2]);
      parser_.SetExpr(text);
      parser_.Eval();
    } catch (const mu::ParserError& e) {
      throw Error(
          fmt::format("geometry expression \"{}\": {} (at character {}, near \"{}\"); allowed are x, y, z in metres, "
                      "numbers, + - * / ^, functions such as sin, sqrt, abs, min, max, and _pi",
                      text, e.GetMsg(), e.GetPos() + 1, e.GetToken()));
    }
    require(parser_.GetNumResults() == 1,
            "geometry expression \"{}\": gives {} values separated by commas; one is needed", text,
            parser_.GetNumResults());
    require(x_ == start, "geometry expression \"{}\": assigns to x, y or z; compare with == instead", text);
  }

  double phi(const Vec3& x) {
    const double f = value(x);
    double gradient2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      Vec3 low = x, high = x;
      low[d] -= half_step;
      high[d] += half_step;
      const double slope = (value(high) - value(low)) / (2.0 * half_step);
      gradient2 += slope * slope;
    }
    const double scale = std::max(std::sqrt(gradient2), std::abs(f) / reach);
    require(
        std::isfinite(f) && std::isfinite(gradient2),
        "geometry expression \"{}\": f is {} at x = {}, y = {}, z = {} m (or next to it); it must be a number in the "
        "whole domain and a little beyond",
        parser_.GetExpr(), f, h0_ * x[0], h0_ * x[1], h0_ * x[2]);
    return scale > 0.0 ? f / scale : 0.0;
  }

 private:
  double value(const Vec3& x) {
    x_ = h0_ * x;
    return parser_.Eval();
  }

  mu::Parser parser_;
  Vec3 x_;
  double h0_;
};

/// Parsers that are not in use. Making one takes far longer than an evaluation.
class FormulaPool {
 public:
  FormulaPool(std::string text, double h0) : text_(std::move(text)), h0_(h0) { give_back(take()); }

  std::unique_ptr<Formula> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto formula = std::move(idle_.back());
        idle_.pop_back();
        return formula;
      }
    }
    return std::make_unique<Formula>(text_, h0_);
  }
  void give_back(std::unique_ptr<Formula> formula) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(formula));
  }

 private:
  std::string text_;
  double h0_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Formula>> idle_;
};

class LocalExpression final : public LocalLevelSet {
 public:
  explicit LocalExpression(std::shared_ptr<FormulaPool> pool) : pool_(std::move(pool)) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    auto formula = pool_->take();
    for (std::size_t p = 0; p < x.size(); ++p) phi[p] = formula->phi(x[p]);
    pool_->give_back(std::move(formula));
  }

 private:
  std::shared_ptr<FormulaPool> pool_;
};

class Expression final : public LevelSet {
 public:
  Expression(const std::string& text, double h0) : pool_(std::make_shared<FormulaPool>(text, h0)) {}
  Smoothness smoothness() const override { return {.lipschitz = 0.0, .sample_spacing = 0.125}; }
  std::unique_ptr<LocalLevelSet> local(const Vec3&, const Vec3&) const override {
    return std::make_unique<LocalExpression>(pool_);
  }

 private:
  std::shared_ptr<FormulaPool> pool_;
};

}  // namespace

std::unique_ptr<LevelSet> make_expression(const std::string& text, double h0) {
  require(h0 > 0.0, "geometry expression: the cell width is {} m; it must be > 0", h0);
  return std::make_unique<Expression>(text, h0);
}

}  // namespace karst
