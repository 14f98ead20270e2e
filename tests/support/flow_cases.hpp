// SPDX-License-Identifier: BSD-3-Clause
// Steady Stokes cases with known answers. Lengths in cells, viscosity 1, unit force.
#pragma once

#include <functional>
#include <numbers>

#include "ins/solve/stokes_solver.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::test {

/// A simple cubic array of spheres, one per period of n cells, off the cell centres.
inline std::unique_ptr<LevelSet> one_sphere(double solid, int n) {
  const double radius = n * std::cbrt(0.75 * solid / std::numbers::pi);
  const std::vector<Sphere> sphere{{{n * 0.5 + 0.137, n * 0.5 - 0.211, n * 0.5 + 0.313}, radius}};
  return make_sphere_list(sphere, {Vec3::all(n), {true, true, true}});
}
inline Geometry sphere_array(const Comm& comm, double solid, int n, int box = 8) {
  return build_geometry(comm, flow_grid(Index::all(n), {true, true, true}, box), *one_sphere(solid, n), KeepPores::all);
}

/// Drag F / (6 π μ a U) of one sphere of the array for the mean superficial velocity U per unit force on all cells.
inline double drag_factor(double solid, int n, double velocity) {
  const double radius = n * std::cbrt(0.75 * solid / std::numbers::pi);
  return double(n) * n * n / (6.0 * std::numbers::pi * radius * velocity);
}

/// A straight channel through a periodic domain of x by y by z cells, along (x, y, 0) (y = 0: along x), seen across:
/// the signed distance of its wall at a place (a, b) beside its axis, a in the plane of the channel and b along z.
struct Channel {
  int x, y, z;                                   ///< y = 0: the domain is `height` cells high
  std::function<double(double, double)> inside;  ///< > 0 in the fluid
  double offset = 0.0;                           ///< of the axis, along its normal
  int height = 0;

  Vec3 along() const {
    const double l = std::hypot(x, y);
    return {x / l, y / l, 0.0};
  }
  Index cells() const { return {x, y == 0 ? height : y, z}; }
  std::unique_ptr<LevelSet> level_set() const {
    const Vec3 t = along();
    const double period = t[0] * cells()[1];  // distance of the images of the axis
    return std::make_unique<DistanceFunction>([=, *this](const Vec3& p) {
      double a = t[0] * p[1] - t[1] * p[0] - offset - (y == 0 ? 0.5 * height : 0.0);
      a -= period * std::round(a / period);
      return inside(a, p[2] - 0.5 * z);
    });
  }
  /// Flow rate through a cross-section for the mean superficial velocity u.
  double rate(const Vec3& u) const { return dot(u, along()) * double(x) * cells()[1] * z / std::hypot(x, y); }
};

/// Flow rate of a unit force along the channel.
inline double channel_rate(const Comm& comm, const Channel& c, double tolerance = 1e-8) {
  const Geometry geometry = build_geometry(comm, flow_grid(c.cells()), *c.level_set(), KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = tolerance;
  StokesSolver solver(test::composite_on(comm, geometry), {}, options);
  StokesDrive drive;
  drive.force = c.along();
  return c.rate(solver.solve(drive).velocity);
}

}  // namespace karst::test
