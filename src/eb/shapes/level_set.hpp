// SPDX-License-Identifier: BSD-3-Clause
// The wall as a function: φ > 0 in the fluid, φ < 0 in the solid, φ = 0 on the wall (counted as solid).
//
// Coordinates and φ are in units of the level-0 cell width, the origin at the low corner of the domain (units:
// docs/conventions.md; nothing in eb/ is dimensional). ∇φ points into the fluid, as the wall normal does.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/math/triple.hpp"
#include "grid/box.hpp"

namespace karst {

class Comm;

/// What is certain of the sign of φ in a box.
struct SignBounds {
  bool may_be_fluid = true;  ///< false: φ < -certain_phi in the whole box
  bool may_be_solid = true;  ///< false: φ > certain_phi in the whole box
  /// Along each direction: 1 when on every line from solid to fluid at most and never back, -1 the other way round, 0
  /// when nothing is known.
  std::array<std::int8_t, 3> rises{};
  bool one_kind() const { return !may_be_fluid || !may_be_solid; }
};
/// Far above the rounding of φ and the tolerance of nodes.
constexpr double certain_phi = 1e-9;

/// Of a ball about a point where the signed distance is φ; 1e-9 of it is left for rounding.
inline SignBounds signs_of_distance(double phi, double radius) {
  const double room = radius + certain_phi + 1e-9 * (phi < 0.0 ? -phi : phi);
  return {phi > -room, phi < room, {}};
}

/// A mineral: its place in LevelSet::minerals().
using MineralNumber = std::uint8_t;
constexpr MineralNumber no_mineral = 255;
/// Name of a solid that was given none.
constexpr const char* unnamed_mineral = "solid";

/// What the cutter may assume between two samples of φ.
struct Smoothness {
  /// |φ(x) - φ(y)| <= lipschitz |x - y|; 0 when nothing is known. 1 for signed distances and their union,
  /// intersection and complement.
  double lipschitz = 0.0;
  /// φ has no feature between samples this far apart (images: half a voxel); 0 when nothing is known.
  double sample_spacing = 0.0;
  /// signs() tells something in small boxes. It is asked where there is no Lipschitz bound.
  bool bounds_signs = false;
  /// signs() tells more than the Lipschitz bound, and is asked beside it.
  bool tight_signs = false;
};

/// Bounds of φ in a box.
struct PhiRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

/// φ near one box: holds what matters there and nothing else. Evaluation is thread-safe and does not allocate.
class LocalLevelSet {
 public:
  virtual ~LocalLevelSet() = default;
  /// @param x         points inside the region asked for
  /// @param[out] phi  one value per point
  virtual void evaluate(std::span<const Vec3> x, std::span<double> phi) const = 0;
  /// Of the box [lo, hi] inside the region asked for; nothing is known by default.
  virtual SignBounds signs(const Vec3& lo, const Vec3& hi) const {
    (void)lo, (void)hi;
    return {};
  }
  /// Of φ in the box [lo, hi] inside the region asked for, but for rounding; nothing is known by default.
  virtual PhiRange range(const Vec3& lo, const Vec3& hi) const {
    (void)lo, (void)hi;
    return {};
  }
  /// What may be assumed here, where that is not what holds for the whole.
  virtual Smoothness smoothness_here(const Smoothness& of_all) const { return of_all; }
  double operator()(const Vec3& x) const {
    double phi;
    evaluate({&x, 1}, {&phi, 1});
    return phi;
  }
  /// The mineral of the solid behind all wall in the box [lo, hi]; no_mineral where there may be several.
  virtual MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const {
    (void)lo, (void)hi;
    return 0;
  }
  /// Counts a piece of wall at x for the mineral of the solid next to x, in equal parts where several are equally near.
  /// @param[in,out] areas  one per mineral, `area` is added to them
  virtual void add_wall(const Vec3& x, double area, std::span<double> areas) const {
    (void)x;
    areas[0] += area;
  }
};

/// A geometry source: described shapes or an image.
class LevelSet {
 public:
  virtual ~LevelSet() = default;
  virtual Smoothness smoothness() const = 0;
  /// φ in the box [lo, hi] (may reach outside the domain by a few cells). Not collective.
  virtual std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const = 0;
  /// Fetches what other ranks hold of φ around these boxes of cells of a level, before local() is asked there.
  /// Collective.
  virtual void fetch(const Comm& comm, int level, std::span<const Box> cells) const {
    (void)comm, (void)level, (void)cells;
  }
  /// Names of the minerals that the solid is made of, by number: 1 to 255.
  virtual std::vector<std::string> minerals() const { return {unnamed_mineral}; }
  /// Frees what was read or fetched and can be again.
  virtual void drop_cache() const {}
};

}  // namespace karst
