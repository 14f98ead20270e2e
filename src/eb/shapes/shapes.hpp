// SPDX-License-Identifier: BSD-3-Clause
// Solid bodies with an exact signed distance: φ(x) = distance from x to the surface, > 0 outside the body.
//
// All lengths are in units of the level-0 cell width. The distances are exact everywhere (outside and inside), so
// |φ(x) - φ(y)| <= |x - y|. To turn a body into a cavity take its complement (eb/shapes/combine.hpp).
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// A right-handed orthonormal frame: where a body sits and how it is turned.
struct Frame {
  Vec3 origin;
  std::array<Vec3, 3> axes{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};

  Vec3 to_local(const Vec3& x) const {
    const Vec3 r = x - origin;
    return {dot(axes[0], r), dot(axes[1], r), dot(axes[2], r)};
  }
};

/// Frame whose third axis is `axis` (any length > 0, else Error).
Frame frame_along(const Vec3& origin, const Vec3& axis);
/// Frame turned about x, then y, then z (fixed axes) by the angles [degrees]. Quarter turns are exact.
Frame turned_frame(const Vec3& origin, const Vec3& degrees);

/// The half space behind a plane; the normal has length 1 and points into the fluid.
struct HalfSpace {
  Vec3 point, normal;
};
struct Sphere {
  Vec3 center;
  double radius;
};
/// Along the third axis of the frame; from -half_length to +half_length, or without end.
struct Cylinder {
  Frame frame;
  double radius;
  double half_length = std::numeric_limits<double>::infinity();
};
struct Cuboid {
  Frame frame;
  Vec3 half;  ///< half its edges
};
struct Ellipsoid {
  Frame frame;
  Vec3 radii;
};
/// Ring around the third axis of the frame; major_radius > minor_radius.
struct Torus {
  Frame frame;
  double major_radius, minor_radius;
};

double signed_distance(const HalfSpace&, const Vec3& x);
double signed_distance(const Sphere&, const Vec3& x);
double signed_distance(const Cylinder&, const Vec3& x);
double signed_distance(const Cuboid&, const Vec3& x);
double signed_distance(const Ellipsoid&, const Vec3& x);
double signed_distance(const Torus&, const Vec3& x);

/// The level set of one body. Throws Error when a size is not positive, an axis has no length, or a torus has no hole.
std::unique_ptr<LevelSet> make_level_set(const HalfSpace&);
std::unique_ptr<LevelSet> make_level_set(const Sphere&);
std::unique_ptr<LevelSet> make_level_set(const Cylinder&);
std::unique_ptr<LevelSet> make_level_set(const Cuboid&);
std::unique_ptr<LevelSet> make_level_set(const Ellipsoid&);
std::unique_ptr<LevelSet> make_level_set(const Torus&);

}  // namespace karst
