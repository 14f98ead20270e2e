// SPDX-License-Identifier: BSD-3-Clause
// Truths that every level set must meet, on random points.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst::test {

class RandomPoints {
 public:
  explicit RandomPoints(unsigned seed) : engine_(seed) {}
  double number(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine_); }
  Vec3 point(const Vec3& lo, const Vec3& hi) {
    return {number(lo[0], hi[0]), number(lo[1], hi[1]), number(lo[2], hi[2])};
  }
  Vec3 direction() {
    Vec3 v;
    do v = point(Vec3::all(-1), Vec3::all(1));
    while (norm(v) > 1.0 || norm(v) < 0.1);
    return v * (1.0 / norm(v));
  }

 private:
  std::mt19937_64 engine_;
};

/// The box whose local level set is asked, and in which points are drawn.
struct Region {
  Vec3 lo, hi;
};

/// |φ(x) - φ(y)| <= L |x - y|, for pairs near and far.
inline void expect_lipschitz(const LevelSet& level_set, const Region& in, unsigned seed) {
  const double lipschitz = level_set.smoothness().lipschitz;
  ASSERT_GT(lipschitz, 0.0);
  const auto local = level_set.local(in.lo, in.hi);
  RandomPoints random(seed);
  for (int n = 0; n < 2000; ++n) {
    const Vec3 x = random.point(in.lo, in.hi);
    Vec3 y = random.point(in.lo, in.hi);
    if (n % 2 == 0) y = x + std::pow(10.0, random.number(-6, 0)) * (y - x);
    ASSERT_LE(std::abs((*local)(x) - (*local)(y)), lipschitz * norm(x - y) + 1e-12)
        << "x " << x[0] << " " << x[1] << " " << x[2] << "  y " << y[0] << " " << y[1] << " " << y[2];
  }
}

/// Near the wall the gradient has length 1 (away from edges): median over random points with |φ| < 1.
inline double median_gradient(const LevelSet& level_set, const Region& in, unsigned seed) {
  const auto local = level_set.local(in.lo, in.hi);
  RandomPoints random(seed);
  std::vector<double> lengths;
  for (int n = 0; n < 5000; ++n) {
    const Vec3 x = random.point(in.lo + Vec3::all(0.01), in.hi - Vec3::all(0.01));
    if (std::abs((*local)(x)) > 1.0) continue;
    Vec3 gradient;
    for (int d = 0; d < 3; ++d) {
      Vec3 e;
      e[d] = 1e-4;
      gradient[d] = ((*local)(x + e) - (*local)(x - e)) / 2e-4;
    }
    lengths.push_back(norm(gradient));
  }
  if (lengths.empty()) return 0.0;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2), lengths.end());
  return lengths[lengths.size() / 2];
}

}  // namespace karst::test
