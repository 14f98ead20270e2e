// SPDX-License-Identifier: BSD-3-Clause
// Cell list of spheres: all spheres and periodic images near a point, in time proportional to how many there are.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "eb/shapes/sphere_list.hpp"

namespace karst {

/// A sphere seen from the domain: its surface is |x - shift - center| = radius. The shift is a whole number of periods
/// per direction and is subtracted from x (exact), so that all images give the same bits.
struct SphereImage {
  Vec3 center, shift;
  double radius;
  double distance(const Vec3& x) const { return norm(x - shift - center) - radius; }
};

class SphereCells {
 public:
  /// Lengths in level-0 cells. Throws Error when a period is not positive.
  SphereCells(std::vector<Sphere> spheres, const Periods& periods);

  /// f(image, φ) for every sphere and image with φ = |x - shift - c| - r <= limit, in an order that depends on x.
  template <class F>
  void for_each_near(const Vec3& x, double limit, F&& f) const;

 private:
  /// Bins of the direction, counted without wrapping, that hold centres in [lo, hi].
  struct Range {
    int first, last;
  };
  Range bins(int d, double lo, double hi) const;

  /// A bin of one direction after wrapping, and the shift of what is in it.
  struct Wrapped {
    int bin;
    double shift;
  };
  Wrapped wrapped(int d, int bin) const;

  Periods periods_;
  double largest_radius_ = 0.0;
  Vec3 origin_, bin_width_;
  Index n_bins_;
  std::vector<std::int64_t> first_;   // per bin, and the end
  std::vector<SphereImage> spheres_;  // sorted by bin; shift brings the centre into the domain
};

template <class F>
void SphereCells::for_each_near(const Vec3& x, double limit, F&& f) const {
  const double radius = limit + largest_radius_;
  if (radius < 0.0) return;
  const Range bx = bins(0, x[0] - radius, x[0] + radius), by = bins(1, x[1] - radius, x[1] + radius),
              bz = bins(2, x[2] - radius, x[2] + radius);
  for (int k = bz.first; k <= bz.last; ++k) {
    const Wrapped z = wrapped(2, k);
    for (int j = by.first; j <= by.last; ++j) {
      const Wrapped y = wrapped(1, j);
      for (int i = bx.first; i <= bx.last; ++i) {
        const Wrapped w = wrapped(0, i);
        const std::int64_t bin = (std::int64_t{z.bin} * n_bins_[1] + y.bin) * n_bins_[0] + w.bin;
        for (std::int64_t s = first_[bin]; s < first_[bin + 1]; ++s) {
          SphereImage image = spheres_[s];
          image.shift += Vec3{w.shift, y.shift, z.shift};
          const double phi = image.distance(x);
          if (phi <= limit) f(image, phi);
        }
      }
    }
  }
}

}  // namespace karst
