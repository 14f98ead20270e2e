// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/expression.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "eb/shapes/formula.hpp"

namespace karst {
namespace {

constexpr double reach = 16.0;     // level-0 cells
constexpr std::size_t chunk = 64;  // points per pass: the scratch arrays live on the stack

class LocalExpression final : public LocalLevelSet {
 public:
  LocalExpression(std::shared_ptr<const Formula> formula, double h0) : formula_(std::move(formula)), h0_(h0) {}

  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    std::array<Vec3, chunk> at, gradient;
    for (std::size_t first = 0; first < x.size(); first += chunk) {
      const std::size_t n = std::min(chunk, x.size() - first);
      for (std::size_t p = 0; p < n; ++p) at[p] = h0_ * x[first + p];
      formula_->evaluate({at.data(), n}, phi.subspan(first, n), {gradient.data(), n});
      for (std::size_t p = 0; p < n; ++p) phi[first + p] = distance(at[p], phi[first + p], gradient[p]);
    }
  }

  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    const FormulaBounds f = formula_->bounds(h0_ * lo, h0_ * hi);
    SignBounds signs;
    if (!f.defined) return signs;
    double slope2 = 0.0;
    for (const Interval& s : f.slope) slope2 += s.most() * s.most();
    const double least = certain_phi * h0_ * std::sqrt(slope2);  // |φ| >= certain_phi where |f| is larger
    signs.may_be_solid = !(f.value.lo > least);
    signs.may_be_fluid = !(f.value.hi < -least);
    for (std::size_t d = 0; d < 3 && f.continuous; ++d)
      signs.rises[d] = static_cast<std::int8_t>(f.slope[d].lo > 0.0 ? 1 : f.slope[d].hi < 0.0 ? -1 : 0);
    return signs;
  }

 private:
  double distance(const Vec3& x, double f, const Vec3& gradient) const {
    require(std::isfinite(f),
            "geometry expression \"{}\": f is {} at x = {}, y = {}, z = {} m; it must be a number in the whole domain "
            "and a cell beyond",
            formula_->text(), f, x[0], x[1], x[2]);
    const double slope = h0_ * norm(gradient);  // per cell; infinite or NaN at the tip of a root
    const double scale = std::isfinite(slope) ? std::max(slope, std::abs(f) / reach) : std::abs(f) / reach;
    return scale > 0.0 ? f / scale : 0.0;
  }

  std::shared_ptr<const Formula> formula_;
  double h0_;
};

class Expression final : public LevelSet {
 public:
  Expression(const std::string& text, double h0) : formula_(std::make_shared<const Formula>(text)), h0_(h0) {}
  Smoothness smoothness() const override {
    return {.lipschitz = 0.0, .sample_spacing = 1.0 / 32.0, .bounds_signs = true};
  }
  std::unique_ptr<LocalLevelSet> local(const Vec3&, const Vec3&) const override {
    return std::make_unique<LocalExpression>(formula_, h0_);
  }

 private:
  std::shared_ptr<const Formula> formula_;
  double h0_;
};

}  // namespace

std::unique_ptr<LevelSet> make_expression(const std::string& text, double h0) {
  require(h0 > 0.0, "geometry expression: the cell width is {} m; it must be > 0", h0);
  return std::make_unique<Expression>(text, h0);
}

}  // namespace karst
