// SPDX-License-Identifier: BSD-3-Clause
// Walls that move, for tests: grids, speeds, and how far the wall and its volume are off.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "eb/geometry.hpp"
#include "eb/moving/moved_level_set.hpp"
#include "eb/moving/wall_motion.hpp"
#include "support/cut_cases.hpp"
#include "support/geometry_cases.hpp"

namespace karst::test {

/// The same everywhere and always.
inline WallSpeed uniform_speed(double v) {
  return [v](std::span<const Vec3> at, double, std::span<double> speed) { std::fill_n(speed.begin(), at.size(), v); };
}
/// f(place, time).
template <class F>
WallSpeed speed_of(F f) {
  return [f](std::span<const Vec3> at, double time, std::span<double> speed) {
    for (std::size_t i = 0; i < at.size(); ++i) speed[i] = f(at[i], time);
  };
}

/// Walls that dissolve, grow, or do both (by seed % 3), with speeds of at most `most`.
inline WallSpeed random_speed(std::uint64_t seed, double most) {
  Random random(seed);
  const double mean = (static_cast<int>(seed % 3) - 1) * 0.5, a = 4 * random(), b = 4 * random(), c = 4 * random();
  return speed_of([=](const Vec3& x, double) {
    return most * (mean + 0.5 * std::sin(0.4 * x[0] + a) * std::cos(0.4 * x[1] + b) * std::cos(0.4 * x[2] + c));
  });
}

/// φ from a function of the place.
class FunctionLevelSet final : public LevelSet {
 public:
  FunctionLevelSet(std::function<double(const Vec3&)> f, const Smoothness& smoothness)
      : f_(std::move(f)), smoothness_(smoothness) {}
  Smoothness smoothness() const override { return smoothness_; }
  std::unique_ptr<LocalLevelSet> local(const Vec3&, const Vec3&) const override {
    return std::make_unique<testing::FunctionPhi>(f_);
  }

 private:
  std::function<double(const Vec3&)> f_;
  Smoothness smoothness_;
};

/// Volume of what is left of an ellipsoid with radii (a, b, b) when its surface has moved inwards by d everywhere.
inline double volume_inside_ellipsoid(double a, double b, double d) {
  const Ellipsoid body{{}, {a, b, b}};
  constexpr int n = 2000;
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const double x = (i + 0.5) / n * a;
    if (signed_distance(body, {x, 0.0, 0.0}) > -d) continue;
    double low = 0.0, high = b;
    for (int k = 0; k < 40; ++k) {
      const double r = 0.5 * (low + high);
      (signed_distance(body, {x, r, 0.0}) > -d ? high : low) = r;
    }
    sum += low * low;
  }
  return 2.0 * std::numbers::pi * sum * a / n;
}

/// A level set and how far its wall has moved.
struct MovingWall {
  MovingWall(const Comm& of, const GridOptions& on, std::shared_ptr<const LevelSet> from, int lattice_level = 0,
             int box_size = 16)
      : comm(of), grid(on), phi0(std::move(from)), displacement(of, on.domain(), box_size, lattice_level) {}

  /// Until this time.
  WallMotionReport move(const WallSpeed& speed, double until) {
    const WallMotionReport report = move_wall(comm, *phi0, speed, time, until - time, displacement);
    time = until;
    return report;
  }
  Geometry geometry(KeepPores keep = KeepPores::all, const VolumeOptions& volumes = {}) const {
    return build_geometry(comm, grid, MovedLevelSet(*phi0, displacement), keep, volumes);
  }
  Geometry with_pieces(KeepPores keep = KeepPores::all) const {
    return geometry(keep, {ControlVolumes::home_cells, true});
  }
  /// Of the solid, in cells.
  double solid_volume() const {
    return (1.0 - geometry().report.porosity) * static_cast<double>(grid.domain().box().count());
  }

  Comm comm;
  GridOptions grid;
  std::shared_ptr<const LevelSet> phi0;
  Displacement displacement;
  double time = 0.0;
};

/// Directions spread over the sphere (Fibonacci lattice).
inline std::vector<Vec3> directions(int n) {
  std::vector<Vec3> all;
  for (int i = 0; i < n; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / n, r = std::sqrt(1.0 - z * z),
                 a = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    all.push_back({r * std::cos(a), r * std::sin(a), z});
  }
  return all;
}

/// Distance from a point in the solid to the wall along a direction, between a and b. One rank.
inline double distance_to_wall(const LevelSet& level_set, const Vec3& from, const Vec3& direction, double a, double b) {
  const auto phi = [&](double r) {
    const Vec3 x = from + r * direction;
    return (*level_set.local(x - Vec3::all(0.5), x + Vec3::all(0.5)))(x);
  };
  for (int i = 0; i < 45; ++i) {
    const double middle = 0.5 * (a + b);
    (phi(middle) > 0.0 ? b : a) = middle;
  }
  return 0.5 * (a + b);
}

/// log2 of the ratio of errors on grids of which each is twice as fine as the one before, the least one.
inline double least_order(const std::vector<double>& errors) {
  double least = 1e9;
  for (std::size_t i = 1; i < errors.size(); ++i)
    least = std::min(least, std::log2(std::abs(errors[i - 1] / errors[i])));
  return least;
}

}  // namespace karst::test
