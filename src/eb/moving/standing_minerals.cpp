// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/standing_minerals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {

namespace {

class LocalStanding final : public LocalLevelSet {
 public:
  /// @param nodes  of the lattice around all points that will be asked for
  LocalStanding(std::unique_ptr<LocalLevelSet> whole, const Box& nodes, double spacing, const std::vector<bool>& stands)
      : whole_(std::move(whole)), nodes_(nodes), spacing_(spacing), stands_(stands) {
    std::vector<double> parts(stands.size());
    for (std::int64_t n = 0; n < nodes.count(); ++n) {
      std::ranges::fill(parts, 0.0);
      height_.push_back(spacing * (0.5 - add_standing(spacing * to_vec(nodes.cell(n)), parts)));
    }
  }
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    whole_->evaluate(x, phi);
    for (std::size_t i = 0; i < x.size(); ++i) phi[i] = std::max(phi[i], height(x[i]));
  }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
    const MineralNumber only = whole_->only_mineral(lo, hi);
    return only != no_mineral && stands_[only] ? only : no_mineral;
  }
  /// The wall is that of a mineral that stands: of the solid next to x, or where that moves, of that around it.
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
    std::vector<double> parts(stands_.size(), 0.0);
    double sum = add_standing(x, parts);
    for (int corner = 0; sum == 0.0 && corner < 8; ++corner) {
      Vec3 near = x;
      for (int d = 0; d < 3; ++d) near[d] = spacing_ * (std::floor(x[d] / spacing_) + (corner >> d & 1));
      sum += add_standing(near, parts);
    }
    if (sum == 0.0) return whole_->add_wall(x, area, areas);
    for (std::size_t m = 0; m < parts.size(); ++m) areas[m] += area * parts[m] / sum;
  }

 private:
  /// Adds the parts of those that stand in the solid next to x, and returns their sum.
  double add_standing(const Vec3& x, std::span<double> parts) const {
    std::vector<double> all(stands_.size(), 0.0);
    whole_->add_wall(x, 1.0, all);
    double sum = 0.0;
    for (std::size_t m = 0; m < all.size(); ++m) {
      if (!stands_[m]) continue;
      parts[m] += all[m];
      sum += all[m];
    }
    return sum;
  }
  double height(const Vec3& x) const {
    Index low;
    std::array<double, 3> part;
    for (int d = 0; d < 3; ++d) {
      const double u = x[d] / spacing_;
      low[d] = std::clamp(static_cast<int>(std::floor(u)), nodes_.lo[d], nodes_.hi[d] - 2);
      part[d] = std::clamp(u - low[d], 0.0, 1.0);
    }
    double sum = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1.0;
      Index node = low;
      for (int d = 0; d < 3; ++d) {
        const int high = corner >> d & 1;
        node[d] += high;
        weight *= high == 1 ? part[d] : 1.0 - part[d];
      }
      sum += weight * height_[nodes_.offset(node)];
    }
    return sum;
  }

  std::unique_ptr<LocalLevelSet> whole_;
  Box nodes_;
  double spacing_;
  std::vector<bool> stands_;
  std::vector<double> height_;  ///< ℓ at the nodes
};

}  // namespace

Smoothness StandingMinerals::smoothness() const {
  const double slope = std::sqrt(3.0);  // of ℓ, which changes by a spacing along each direction at most
  const Smoothness of_whole = whole_.smoothness();
  return {of_whole.lipschitz > 0.0 ? std::max(of_whole.lipschitz, slope) : 0.0, of_whole.sample_spacing, false};
}

std::unique_ptr<LocalLevelSet> StandingMinerals::local(const Vec3& lo, const Vec3& hi) const {
  Box nodes;
  Vec3 first, last;
  for (int d = 0; d < 3; ++d) {
    nodes.lo[d] = static_cast<int>(std::floor(lo[d] / spacing_));
    nodes.hi[d] = static_cast<int>(std::floor(hi[d] / spacing_)) + 2;
    first[d] = std::min(lo[d], spacing_ * nodes.lo[d]);
    last[d] = std::max(hi[d], spacing_ * (nodes.hi[d] - 1));
  }
  return std::make_unique<LocalStanding>(whole_.local(first, last), nodes, spacing_, stands_);
}

}  // namespace karst
