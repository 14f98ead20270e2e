// SPDX-License-Identifier: BSD-3-Clause
// Steady Stokes cases with known answers. Lengths in cells, viscosity 1, unit force.
#pragma once

#include <functional>
#include <numbers>

#include "eb/shapes/reservoir_level_set.hpp"
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

inline StokesOptions stokes_options(double tolerance) {
  StokesOptions options;
  options.krylov.tolerance = tolerance;
  return options;
}
inline StokesDrive driven_by(const Vec3& force) {
  StokesDrive drive;
  drive.force = force;
  return drive;
}

/// Volumes of the VoFs of a box, small ones as the advection sees them.
inline std::vector<double> advected_volumes(const LevelGeometry& level, int box) {
  const BoxGraph graph = level.graph.box(box);
  std::vector<double> volume(graph.n_own, 1.0);
  const auto moments = level.box(box).moments;
  for (std::size_t r = 0; r < moments.size(); ++r) volume[graph.row_vof[r]] = std::max(moments[r].kappa, 0.25);
  return volume;
}

/// Largest deviation of linear terms from half the difference of those with both signs of the change, and the largest
/// of them. Collective.
inline std::array<double, 2> derivative_error(const Comm& comm, std::span<const Quad> linear,
                                              std::span<const Quad> difference) {
  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < linear.size(); ++i)
    for (std::size_t d = 0; d < 4; ++d) {
      worst = std::max(worst, std::abs(linear[i].v[d] - 0.5 * difference[i].v[d]));
      largest = std::max(largest, std::abs(linear[i].v[d]));
    }
  return {comm.max(worst), comm.max(largest)};
}

/// A plane channel along an axis that a stream comes into with a given velocity and leaves against a pressure.
struct PlaneStream {
  int axis = 0, length = 12, height = 8;
  bool from_high = false;
  FlowSide sides = FlowSide::no_slip;

  int across() const { return (axis + 1) % 3; }
  std::size_t in() const { return static_cast<std::size_t>(side_of(axis, from_high)); }
  GridOptions grid(int depth = 1) const {
    Index cells = Index::all(depth);
    cells[axis] = length;
    cells[across()] = height;
    std::array<bool, 3> periodic{true, true, true};
    periodic[axis] = periodic[across()] = false;
    return flow_grid(cells, periodic);
  }
  FlowSides kinds() const {
    FlowSides kinds;
    kinds.fill(sides);
    kinds[in()] = FlowSide::velocity;
    kinds[in() ^ 1U] = FlowSide::outlet;
    return kinds;
  }
  StokesDrive drive(double speed = 1.0) const {
    StokesDrive drive;
    drive.at_end[in()] = speed;
    return drive;
  }
};

/// A sample between reservoirs along x; without any: as it is.
inline Geometry between(const Comm& comm, Index cells, std::unique_ptr<LevelSet> solid, int reservoir,
                        const std::array<bool, 3>& periodic, int box) {
  if (reservoir > 0) solid = between_reservoirs(std::move(solid), 0, reservoir, cells[0]);
  cells[0] += 2 * reservoir;
  return build_geometry(comm, flow_grid(cells, periodic, box), *solid, KeepPores::connected);
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
  StokesSolver solver(test::composite_on(comm, geometry), {}, stokes_options(tolerance));
  return c.rate(solver.solve(driven_by(c.along())).velocity);
}

}  // namespace karst::test
