// SPDX-License-Identifier: BSD-3-Clause
// Flow in time that comes in with a given velocity and leaves against a given pressure.
#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/body_forces.hpp"
#include "support/flow_cases.hpp"

namespace karst {
namespace {

/// A plane channel along an axis, one cell thick; lengths in cells, viscosity 1.
struct PlaneChannel {
  int axis = 0, length = 12, height = 8;
  bool from_high = false;
  FlowSide sides = FlowSide::no_slip;
  double disc = 0.0;  ///< radius of one in the stream

  int across() const { return (axis + 1) % 3; }
  std::size_t in() const { return static_cast<std::size_t>(side_of(axis, from_high)); }
  Geometry geometry(const Comm& comm) const {
    Index cells = Index::all(1);
    cells[axis] = length;
    cells[across()] = height;
    std::array<bool, 3> periodic{true, true, true};
    periodic[axis] = periodic[across()] = false;
    const test::DistanceFunction phi([this](const Vec3& x) {
      return disc > 0.0 ? std::hypot(x[axis] - 0.33 * length, x[across()] - 0.48 * height) - disc : 1e3;
    });
    return build_geometry(comm, test::flow_grid(cells, periodic), phi, KeepPores::connected);
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

StokesOptions options(double tolerance) {
  StokesOptions o;
  o.krylov.tolerance = tolerance;
  return o;
}

// A uniform stream u = t between planes of symmetry, along every axis: ∂u/∂t = 1 = -∂p, whatever its inertia. Both
// kinds of steps are exact for it.
TEST(UnsteadyEnds, AcceleratedStreamIsExactMpi) {
  const Comm comm = Comm::world();
  for (const int axis : {0, 1, 2}) {
    const PlaneChannel channel{axis, 12, 8, axis == 1, FlowSide::symmetry};
    const Geometry geometry = channel.geometry(comm);
    StokesSolver stokes(comm, geometry, channel.kinds(), options(1e-10));
    UnsteadySolver flow(
        stokes, geometry, [&](double t) { return channel.drive(t); }, channel.drive(), TimeScheme::bdf2, 10.0);
    for (int i = 0; i < 5; ++i) flow.step(i < 3 ? 0.1 : 0.07);
    const auto in = static_cast<int>(channel.in());  // through 8 faces
    EXPECT_NEAR(flow.flow_out(in), -8.0 * flow.time(), 1e-5) << axis;
    EXPECT_NEAR(flow.flow_out(opposite(in)), 8.0 * flow.time(), 1e-5) << axis;
    double off = 0.0;
    const LevelGraph& graph = geometry.levels[0].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        const Quad& q = stokes.all_values()[graph.vof_begin(b) + vof];
        const double x = box.cells.cell(cell)[axis] + 0.5, left = channel.from_high ? x : 12.0 - x;
        for (int d = 0; d < 3; ++d)
          off = std::max(off, std::abs(q.v[d] - (d != axis ? 0.0 : (channel.from_high ? -1.0 : 1.0) * flow.time())));
        off = std::max(off, std::abs(q.v[3] - left) / 12.0);
      });
    }
    EXPECT_LT(comm.max(off), 1e-6) << axis;  // coefficients are in single precision
  }
}

// The same between two pressures, ∂p = -1.
TEST(UnsteadyEnds, PressuresAccelerateAStreamMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel channel{1, 12, 8, false, FlowSide::symmetry};
  const Geometry geometry = channel.geometry(comm);
  FlowSides sides = channel.kinds();
  sides[2] = sides[3] = FlowSide::pressure;
  StokesSolver stokes(comm, geometry, sides, options(1e-10));
  StokesDrive drive;
  drive.at_end[2] = 12.0;
  UnsteadySolver flow(
      stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, 10.0);
  for (int i = 0; i < 3; ++i) flow.step(0.1);
  double off = 0.0;
  for (const Quad& q : stokes.solution()) off = std::max(off, std::abs(q.v[1] - flow.time()));
  EXPECT_LT(comm.max(off), 1e-6);
}

// The same where the profile of the inlet changes with time, not its value.
TEST(UnsteadyEnds, ProfileMayChangeWithTimeMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel channel{0, 12, 8, false, FlowSide::symmetry};
  const Geometry geometry = channel.geometry(comm);
  StokesSolver stokes(comm, geometry, channel.kinds(), options(1e-10));
  UnsteadySolver flow(
      stokes, geometry,
      [&](double t) {
        stokes.op().set_profile(0, [t](const Vec3&) { return t; });
        return channel.drive();
      },
      channel.drive(), TimeScheme::bdf2, 10.0);
  for (int i = 0; i < 3; ++i) flow.step(0.1);
  double off = 0.0;
  for (const Quad& q : stokes.solution()) off = std::max(off, std::abs(q.v[0] - flow.time()));
  EXPECT_LT(comm.max(off), 1e-6);
}

/// Largest change of the velocity and of the force on the disc while the steady flow goes on for some steps.
std::array<double, 2> change_of_steady(const Comm& comm, const PlaneChannel& channel, double inertia) {
  const Geometry geometry = channel.geometry(comm);
  StokesSolver stokes(comm, geometry, channel.kinds(), options(1e-10));
  const StokesDrive drive = channel.drive();
  stokes.solve(drive);
  SteadyOptions steady_options;
  steady_options.tolerance = 1e-10;
  SteadySolver steady(stokes, steady_options);
  EXPECT_TRUE(approach(
                  steady, drive, 0.0, inertia, [](double, const SteadyReport&) {}, "steady")
                  .reached);
  const std::vector<Quad> before(stokes.all_values().begin(), stokes.all_values().end());
  steady.residual(drive, inertia, stokes.krylov().work());
  const Vec3 force = body_forces(stokes.op(), stokes.values(), drive, inertia, {0})[0].total();
  UnsteadySolver flow(
      stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, inertia);
  std::ranges::copy(before, stokes.all_values().begin());
  flow.begin_here(drive);
  flow.keep_rate();
  for (int i = 0; i < 4; ++i) flow.step(0.1);
  double off = 0.0;
  for (std::size_t v = 0; v < before.size(); ++v)
    for (std::size_t d = 0; d < 3; ++d) off = std::max(off, std::abs(stokes.all_values()[v].v[d] - before[v].v[d]));
  const MomentumOfStep step = flow.momentum_of_step();
  const Vec3 now = body_forces(stokes.op(), stokes.values(), drive, inertia, {0}, step)[0].total();
  return {comm.max(off), norm(now - force) / norm(force)};
}

// What the steady solver finds does not change in time, nor the force: past a disc at ρ U D / μ = 16, and where the
// outlet cuts the eddies behind it, at 32.
TEST(UnsteadyEnds, SteadyFlowStaysAsItIsMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel whole{0, 20, 10, false, FlowSide::no_slip, 2.0};
  const PlaneChannel cut{1, 10, 10, true, FlowSide::no_slip, 2.0};
  for (const auto& [channel, inertia] : {std::pair{whole, 4.0}, {cut, 8.0}}) {
    const auto [flow, force] = change_of_steady(comm, channel, inertia);
    EXPECT_LT(flow, 1e-6) << inertia;
    EXPECT_LT(force, 1e-6) << inertia;
  }
}

}  // namespace
}  // namespace karst
