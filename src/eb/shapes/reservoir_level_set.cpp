// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/reservoir_level_set.hpp"

#include <algorithm>
#include <array>

#include "eb/shapes/combine.hpp"

namespace karst {
namespace {

/// The slab that holds the sample.
struct Slab {
  int direction;
  double low, high;
  /// Distance of a place on the axis, negative inside.
  double outside(double x) const { return std::max(low - x, x - high); }
};

class ReservoirLevelSet final : public LevelSet {
 public:
  ReservoirLevelSet(std::unique_ptr<LevelSet> sample, const Slab& slab) : sample_(std::move(sample)), slab_(slab) {}
  Smoothness smoothness() const override { return combined(sample_->smoothness(), {1.0, 0.0, true}); }
  void drop_cache() const override { sample_->drop_cache(); }
  std::vector<std::string> minerals() const override { return sample_->minerals(); }

  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    constexpr double far = 2.0;  // [cells]: no wall of the sample is near
    const int d = slab_.direction;
    if (lo[d] > slab_.high + far || hi[d] < slab_.low - far) return std::make_unique<Local>(nullptr, slab_);
    Vec3 shift;
    shift[d] = slab_.low;
    return std::make_unique<Local>(sample_->local(lo - shift, hi - shift), slab_);
  }

 private:
  class Local final : public LocalLevelSet {
   public:
    Local(std::unique_ptr<LocalLevelSet> sample, const Slab& slab) : sample_(std::move(sample)), slab_(slab) {}

    void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
      const int d = slab_.direction;
      if (sample_) evaluate_sample(x, phi);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double outside = slab_.outside(x[i][d]);
        phi[i] = sample_ ? std::max(phi[i], outside) : outside;
      }
    }

    SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
      const int d = slab_.direction;
      const SignBounds between = signs_of_distance(slab_.outside(0.5 * (lo[d] + hi[d])), 0.5 * (hi[d] - lo[d]));
      if (!sample_) return between;
      const SignBounds sample = sample_->signs(in_sample(lo), in_sample(hi));
      return complement_of(signs_of_minimum(complement_of(sample), complement_of(between)));
    }

    MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
      return sample_ ? sample_->only_mineral(in_sample(lo), in_sample(hi)) : MineralNumber{0};
    }
    void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
      if (sample_) sample_->add_wall(in_sample(x), area, areas);
    }

   private:
    Vec3 in_sample(Vec3 x) const {
      x[slab_.direction] -= slab_.low;
      return x;
    }
    void evaluate_sample(std::span<const Vec3> x, std::span<double> phi) const {
      std::array<Vec3, 64> moved;
      for (std::size_t first = 0; first < x.size(); first += moved.size()) {
        const std::size_t n = std::min(moved.size(), x.size() - first);
        for (std::size_t i = 0; i < n; ++i) moved[i] = in_sample(x[first + i]);
        sample_->evaluate(std::span(moved).first(n), phi.subspan(first, n));
      }
    }

    std::unique_ptr<LocalLevelSet> sample_;
    Slab slab_;
  };

  std::unique_ptr<LevelSet> sample_;
  Slab slab_;
};

}  // namespace

std::unique_ptr<LevelSet> between_reservoirs(std::unique_ptr<LevelSet> sample, int direction, double before,
                                             double length) {
  return std::make_unique<ReservoirLevelSet>(std::move(sample), Slab{direction, before, before + length});
}

}  // namespace karst
