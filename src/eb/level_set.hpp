// SPDX-License-Identifier: BSD-3-Clause
// The wall as a function: φ > 0 in the fluid, φ < 0 in the solid, φ = 0 on the wall (counted as solid).
//
// Coordinates and φ are in units of the level-0 cell width, the origin at the low corner of the domain (decision D6:
// nothing in eb/ is dimensional). ∇φ points into the fluid, as the wall normal does.
#pragma once

#include <memory>
#include <span>

#include "base/triple.hpp"

namespace karst {

/// φ near one box: holds what matters there and nothing else. Evaluation is thread-safe and does not allocate.
class LocalLevelSet {
 public:
  virtual ~LocalLevelSet() = default;
  /// @param x         points inside the region asked for
  /// @param[out] phi  one value per point
  virtual void evaluate(std::span<const Vec3> x, std::span<double> phi) const = 0;
  double operator()(const Vec3& x) const {
    double phi;
    evaluate({&x, 1}, {&phi, 1});
    return phi;
  }
};

/// What the cutter may assume between two samples of φ.
struct Smoothness {
  /// |φ(x) - φ(y)| <= lipschitz |x - y|; 0 when nothing is known. 1 for signed distances and their union,
  /// intersection and complement.
  double lipschitz = 0.0;
  /// φ has no feature between samples this far apart (images: half a voxel); 0 when nothing is known.
  double sample_spacing = 0.0;
};

/// A geometry source: described shapes or an image.
class LevelSet {
 public:
  virtual ~LevelSet() = default;
  virtual Smoothness smoothness() const = 0;
  /// φ in the box [lo, hi] (may reach outside the domain by a few cells). Not collective.
  virtual std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const = 0;
  /// Frees what was read and can be read again.
  virtual void drop_cache() const {}
};

}  // namespace karst
