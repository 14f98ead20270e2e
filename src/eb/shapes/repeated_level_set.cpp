// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/repeated_level_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {
namespace {

/// One copy: what is asked for near it is asked of the sample, which repeats itself beyond its ends.
class Local final : public LocalLevelSet {
 public:
  Local(std::unique_ptr<LocalLevelSet> sample, const Vec3& shift) : sample_(std::move(sample)), shift_(shift) {}

  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    std::array<Vec3, 64> moved;
    for (std::size_t first = 0; first < x.size(); first += moved.size()) {
      const std::size_t n = std::min(moved.size(), x.size() - first);
      for (std::size_t i = 0; i < n; ++i) moved[i] = x[first + i] - shift_;
      sample_->evaluate(std::span(moved).first(n), phi.subspan(first, n));
    }
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override { return sample_->signs(lo - shift_, hi - shift_); }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
    return sample_->only_mineral(lo - shift_, hi - shift_);
  }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
    sample_->add_wall(x - shift_, area, areas);
  }

 private:
  std::unique_ptr<LocalLevelSet> sample_;
  Vec3 shift_;
};

class RepeatedLevelSet final : public LevelSet {
 public:
  RepeatedLevelSet(std::unique_ptr<LevelSet> sample, const Vec3& period)
      : sample_(std::move(sample)), period_(period) {}
  Smoothness smoothness() const override { return sample_->smoothness(); }
  void drop_cache() const override { sample_->drop_cache(); }
  std::vector<std::string> minerals() const override { return sample_->minerals(); }

  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    Vec3 shift;
    for (int d = 0; d < 3; ++d)
      if (period_[d] > 0.0) shift[d] = period_[d] * std::floor(0.5 * (lo[d] + hi[d]) / period_[d]);
    return std::make_unique<Local>(sample_->local(lo - shift, hi - shift), shift);
  }

 private:
  std::unique_ptr<LevelSet> sample_;
  Vec3 period_;
};

}  // namespace

std::unique_ptr<LevelSet> repeated(std::unique_ptr<LevelSet> sample, const Vec3& period) {
  return std::make_unique<RepeatedLevelSet>(std::move(sample), period);
}

}  // namespace karst
