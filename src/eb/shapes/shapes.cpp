// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/core/error.hpp"

namespace karst {
namespace {

Vec3 unit_vector(const Vec3& a, const char* what) {
  const double length = norm(a);
  require(length > 0.0 && std::isfinite(length), "{} is ({}, {}, {}): it needs a finite length > 0; give a direction",
          what, a[0], a[1], a[2]);
  return {a[0] / length, a[1] / length, a[2] / length};
}

/// Sine and cosine of an angle in degrees, exact for multiples of 90.
std::array<double, 2> sine_cosine(double degrees) {
  const double quarter = degrees / 90.0;
  if (quarter == std::nearbyint(quarter)) {
    constexpr std::array<double, 4> sine{0.0, 1.0, 0.0, -1.0};
    const std::size_t n = ((std::llround(quarter) % 4) + 4) % 4;
    return {sine[n], sine[(n + 1) % 4]};
  }
  const double angle = degrees * std::numbers::pi / 180.0;
  return {std::sin(angle), std::cos(angle)};
}

/// Signed distance to { q <= 0 in every component } when each component of q is the signed distance to one side.
template <class... Q>
double distance_to_corner(Q... q) {
  const double outside = std::sqrt(((std::max(q, 0.0) * std::max(q, 0.0)) + ...));
  return outside > 0.0 ? outside : std::max({q...});
}

/// Signed distance to an ellipsoid, x in its frame and in the first octant.
///
/// The nearest surface point is p_i = e_i² x_i / d_i with d_i = s + e_i² - e_min², where s >= 0 solves
/// G(s) = Σ (e_i x_i / d_i)² = 1 (D. Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid,
/// 2013). Newton's method runs on 1 - 1/√G, which is nearly linear and concave, from a start left of the root, as in
/// the trust-region step of Moré & Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983) 553. When the terms of the shortest
/// axes vanish and G(0) <= 1, the nearest point lies off the symmetry plane and s = 0.
double ellipsoid_distance(const Vec3& radii, const Vec3& x) {
  const double shortest = std::min({radii[0], radii[1], radii[2]});
  Vec3 gap;  // e_i² - e_min²
  double s = 0.0, g_at_zero = 0.0;
  for (int i = 0; i < 3; ++i) {
    gap[i] = (radii[i] - shortest) * (radii[i] + shortest);
    s = std::max(s, radii[i] * x[i] - gap[i]);                           // one term of G is 1 there: left of the root
    if (x[i] > 0.0) g_at_zero += std::pow(radii[i] * x[i] / gap[i], 2);  // infinite for a shortest axis
  }
  if (g_at_zero <= 1.0) {
    double distance2 = 0.0, room = 1.0;
    for (int i = 0; i < 3; ++i) {
      if (!(gap[i] > 0.0)) continue;
      const double p = radii[i] * radii[i] * x[i] / gap[i];
      room -= p * p / (radii[i] * radii[i]);
      distance2 += (p - x[i]) * (p - x[i]);
    }
    return -std::sqrt(distance2 + shortest * shortest * std::max(room, 0.0));
  }
  constexpr int most_steps = 60;
  for (int step = 0; step < most_steps; ++step) {
    double g = 0.0, slope = 0.0;
    for (int i = 0; i < 3; ++i) {
      if (x[i] == 0.0) continue;
      const double d = s + gap[i], term = (radii[i] * x[i] / d) * (radii[i] * x[i] / d);
      g += term;
      slope += term / d;
    }
    const double ds = g / slope * (std::sqrt(g) - 1.0);
    if (!(ds > 0.0) || s + ds == s) break;  // monotone from the left until round-off
    s += ds;
  }
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    if (x[i] != 0.0) sum += std::pow(x[i] / (s + gap[i]), 2);
  }
  return (s - shortest * shortest) * std::sqrt(sum);
}

template <class Body>
class LocalBody final : public LocalLevelSet {
 public:
  explicit LocalBody(const Body& body) : body_(body) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    for (std::size_t p = 0; p < x.size(); ++p) phi[p] = signed_distance(body_, x[p]);
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    return signs_of_distance(signed_distance(body_, 0.5 * (lo + hi)), 0.5 * norm(hi - lo));
  }

 private:
  Body body_;
};

template <class Body>
class BodyLevelSet final : public LevelSet {
 public:
  explicit BodyLevelSet(const Body& body) : body_(body) {}
  Smoothness smoothness() const override { return {.lipschitz = 1.0, .sample_spacing = 0.0, .bounds_signs = true}; }
  std::unique_ptr<LocalLevelSet> local(const Vec3&, const Vec3&) const override {
    return std::make_unique<LocalBody<Body>>(body_);
  }

 private:
  Body body_;
};

void require_positive(double size, const char* what) {
  require(size > 0.0, "{} is {} cells: it must be > 0", what, size);
}

}  // namespace

Frame frame_along(const Vec3& origin, const Vec3& axis) {
  const Vec3 third = unit_vector(axis, "axis");
  int flattest = 0;
  for (int d = 1; d < 3; ++d) {
    if (std::abs(third[d]) < std::abs(third[flattest])) flattest = d;
  }
  Vec3 helper;
  helper[flattest] = 1.0;
  const Vec3 first = unit_vector(cross(helper, third), "axis");
  return {origin, {first, cross(third, first), third}};
}

Frame turned_frame(const Vec3& origin, const Vec3& degrees) {
  Frame frame{origin};
  for (int d = 0; d < 3; ++d) {
    const auto [sine, cosine] = sine_cosine(degrees[d]);
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (Vec3& axis : frame.axes) {
      const double u = axis[a], v = axis[b];
      axis[a] = cosine * u - sine * v;
      axis[b] = sine * u + cosine * v;
    }
  }
  return frame;
}

double signed_distance(const HalfSpace& s, const Vec3& x) { return dot(s.normal, x - s.point); }

double signed_distance(const Sphere& s, const Vec3& x) { return norm(x - s.center) - s.radius; }

double signed_distance(const Cylinder& s, const Vec3& x) {
  const Vec3 y = s.frame.to_local(x);
  const double across = std::sqrt(y[0] * y[0] + y[1] * y[1]) - s.radius;
  return std::isinf(s.half_length) ? across : distance_to_corner(across, std::abs(y[2]) - s.half_length);
}

double signed_distance(const Cuboid& s, const Vec3& x) {
  const Vec3 y = s.frame.to_local(x);
  return distance_to_corner(std::abs(y[0]) - s.half[0], std::abs(y[1]) - s.half[1], std::abs(y[2]) - s.half[2]);
}

double signed_distance(const Ellipsoid& s, const Vec3& x) {
  const Vec3 y = s.frame.to_local(x);
  return ellipsoid_distance(s.radii, {std::abs(y[0]), std::abs(y[1]), std::abs(y[2])});
}

double signed_distance(const Torus& s, const Vec3& x) {
  const Vec3 y = s.frame.to_local(x);
  const double across = std::sqrt(y[0] * y[0] + y[1] * y[1]) - s.major_radius;
  return std::sqrt(across * across + y[2] * y[2]) - s.minor_radius;
}

std::unique_ptr<LevelSet> make_level_set(const HalfSpace& s) {
  return std::make_unique<BodyLevelSet<HalfSpace>>(HalfSpace{s.point, unit_vector(s.normal, "plane: normal")});
}
std::unique_ptr<LevelSet> make_level_set(const Sphere& s) {
  require_positive(s.radius, "sphere: radius");
  return std::make_unique<BodyLevelSet<Sphere>>(s);
}
std::unique_ptr<LevelSet> make_level_set(const Cylinder& s) {
  require_positive(s.radius, "cylinder: radius");
  require_positive(s.half_length, "cylinder: half length");
  return std::make_unique<BodyLevelSet<Cylinder>>(s);
}
std::unique_ptr<LevelSet> make_level_set(const Cuboid& s) {
  for (int d = 0; d < 3; ++d) require_positive(s.half[d], "box: half edge");
  return std::make_unique<BodyLevelSet<Cuboid>>(s);
}
std::unique_ptr<LevelSet> make_level_set(const Ellipsoid& s) {
  for (int d = 0; d < 3; ++d) require_positive(s.radii[d], "ellipsoid: radius");
  return std::make_unique<BodyLevelSet<Ellipsoid>>(s);
}
std::unique_ptr<LevelSet> make_level_set(const Torus& s) {
  require_positive(s.minor_radius, "torus: radius");
  require(s.major_radius > s.minor_radius,
          "torus: major radius is {} cells, radius {}: the major radius must be larger, so that the ring has a hole",
          s.major_radius, s.minor_radius);
  return std::make_unique<BodyLevelSet<Torus>>(s);
}

}  // namespace karst
