// SPDX-License-Identifier: BSD-3-Clause
// Flow in time that comes in with a given velocity and leaves against a given pressure.
#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/body_forces.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::unsteady_ends_test {
namespace {

/// A plane channel along an axis, one cell thick; lengths in cells, viscosity 1.
struct PlaneChannel : test::PlaneStream {
  double disc = 0.0;              ///< radius of one in the stream
  std::array<double, 2> finer{};  ///< from where to where along the axis cells have half the width
  int depth = 1;

  Geometry geometry(const Comm& comm) const {
    const test::DistanceFunction phi([this](const Vec3& x) {
      return disc > 0.0 ? std::hypot(x[axis] - 0.33 * length, x[across()] - 0.48 * height) - disc : 1e3;
    });
    GridOptions cells = grid(depth);
    if (finer[1] > finer[0]) {
      Vec3 low, high = cells.size;
      low[axis] = finer[0];
      high[axis] = finer[1];
      cells = test::refined_in(cells, 1, low, high);
    }
    return build_geometry(comm, cells, phi, KeepPores::connected);
  }
};

/// f(place in vectors, level, own box, VoF, its cell) for all own unknowns.
template <class F>
void for_each_unknown(const StokesLevels& op, F&& f) {
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGraph& graph = op.level(l).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        if (std::ranges::count(op.level(l).covered_in(b), vof) == 0)
          f(static_cast<std::size_t>(op.begin(l) + graph.vof_begin(b) + vof), l, b, vof, box.cells.cell(cell));
      });
    }
  }
}

// A uniform stream u = t between planes of symmetry, along every axis: ∂u/∂t = 1 = -∂p, whatever its inertia. Both
// kinds of steps are exact for it, and so are two levels, the finer one in the middle and at either end.
TEST(UnsteadyEnds, AcceleratedStreamIsExactMpi) {
  const Comm comm = Comm::world();
  for (const auto& [axis, finer] : {std::pair{0, std::array{0.0, 0.0}},
                                    {1, {0.0, 0.0}},
                                    {2, {0.0, 0.0}},
                                    {0, {4.0, 8.0}},
                                    {1, {0.0, 4.0}},
                                    {2, {8.0, 12.0}}}) {
    const PlaneChannel channel{{axis, 12, 8, axis == 1, FlowSide::symmetry}, 0.0, finer};
    const Geometry geometry = channel.geometry(comm);
    StokesSolver stokes(test::composite_on(comm, geometry), channel.kinds(), test::stokes_options(1e-10));
    UnsteadySolver flow(
        stokes, geometry, [&](double t) { return channel.drive(t); }, channel.drive(), TimeScheme::bdf2, 10.0);
    for (int i = 0; i < 5; ++i) flow.step(i < 3 ? 0.1 : 0.07);
    const auto in = static_cast<int>(channel.in());  // through 8 faces
    EXPECT_NEAR(flow.flow_out(in), -8.0 * flow.time(), 1e-5) << axis;
    EXPECT_NEAR(flow.flow_out(opposite(in)), 8.0 * flow.time(), 1e-5) << axis;
    double off = 0.0;
    for_each_unknown(stokes.op(), [&, d = axis](std::size_t v, int l, int, int, const Index& cell) {
      const Quad& q = stokes.all_values()[v];
      const double h = StokesLevels::width(l), x = h * (cell[d] + 0.5), left = channel.from_high ? x : 12.0 - x;
      for (int e = 0; e < 3; ++e)
        off = std::max(off, std::abs(q.v[e] - (e != d ? 0.0 : (channel.from_high ? -1.0 : 1.0) * flow.time())));
      off = std::max(off, std::abs(q.v[3] / h - left) / 12.0);
    });
    EXPECT_LT(comm.max(off), 1e-6) << axis << " " << finer[0];  // coefficients are in single precision
  }
}

// The same between two pressures, ∂p = -1.
TEST(UnsteadyEnds, PressuresAccelerateAStreamMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel channel{{1, 12, 8, false, FlowSide::symmetry}};
  const Geometry geometry = channel.geometry(comm);
  FlowSides sides = channel.kinds();
  sides[2] = sides[3] = FlowSide::pressure;
  StokesSolver stokes(test::composite_on(comm, geometry), sides, test::stokes_options(1e-10));
  StokesDrive drive;
  drive.at_end[2] = 12.0;
  UnsteadySolver flow(
      stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, 10.0);
  for (int i = 0; i < 3; ++i) flow.step(0.1);
  double off = 0.0;
  for (const Quad& q : stokes.solution()) off = std::max(off, std::abs(q.v[1] - flow.time()));
  EXPECT_LT(comm.max(off), 1e-6);
}

/// Between planes of symmetry.
struct FreeStream {
  Comm comm = Comm::world();
  PlaneChannel channel{{0, 12, 8, false, FlowSide::symmetry}};
  Geometry geometry = channel.geometry(comm);
  StokesSolver stokes{test::composite_on(comm, geometry), channel.kinds(), test::stokes_options(1e-10)};
};

// The same where the profile of the inlet changes with time, not its value.
TEST(UnsteadyEnds, ProfileMayChangeWithTimeMpi) {
  FreeStream stream;
  auto& [comm, channel, geometry, stokes] = stream;
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

// A stream that starts at once, and is halved at once: u is that of the inlet in every step and nothing presses, as the
// impulse takes no time. Without jump() the pressure at the inlet is 12 10 u / dt and, a step later, negative.
TEST(UnsteadyEnds, ImpulseIsInNoStepMpi) {
  FreeStream stream;
  auto& [comm, channel, geometry, stokes] = stream;
  UnsteadySolver flow(
      stokes, geometry, [&](double t) { return channel.drive(t < 0.301 ? 1.0 : 0.5); }, channel.drive(),
      TimeScheme::bdf2, 10.0);
  flow.jump(channel.drive());
  for (int i = 0; i < 6; ++i) {
    if (i == 3) flow.jump(channel.drive(0.5));
    const StepReport step = flow.step(0.1);
    double off = 0.0;
    for (const Quad& q : stokes.solution())
      off = std::max({off, std::abs(q.v[0] - (i < 3 ? 1.0 : 0.5)), std::abs(q.v[3]) / 12.0});
    EXPECT_LT(comm.max(off), 1e-6) << i;
    EXPECT_NEAR(step.energy.growth, 0.0, 1e-6) << i;
  }
}

// Past a disc between plates that hold the fluid, the force of the first step is that of layers at the walls that grow
// with √t: it is of the order of 1 / √dt, where an impulse in the step would be of 1 / dt, and has the sign of the
// stream.
TEST(UnsteadyEnds, ForceAfterAJumpIsThatOfGrowingLayersMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel channel{{0, 24, 12, false, FlowSide::no_slip}, 2.0};
  const auto force = [&](double dt) {
    const Geometry geometry = channel.geometry(comm);
    StokesSolver stokes(test::composite_on(comm, geometry), channel.kinds(), test::stokes_options(1e-9));
    UnsteadySolver flow(
        stokes, geometry, [&](double) { return channel.drive(); }, channel.drive(), TimeScheme::bdf2, 4.0);
    flow.keep_rate();
    flow.jump(channel.drive());
    flow.step(dt);
    return body_forces(stokes.op(), stokes.values(), channel.drive(), {0}, flow.momentum_rows())[0].total()[0];
  };
  const double longer = force(0.2), shorter = force(0.05);
  EXPECT_GT(longer, 0.0);
  EXPECT_GT(shorter / longer, 1.1);
  EXPECT_LT(shorter / longer, 2.0);
}

/// Largest change of the velocity and of the force on the disc while the steady flow goes on for some steps.
std::array<double, 2> change_of_steady(const Comm& comm, const PlaneChannel& channel, double inertia) {
  const Geometry geometry = channel.geometry(comm);
  StokesSolver stokes(test::composite_on(comm, geometry), channel.kinds(), test::stokes_options(1e-10));
  const StokesDrive drive = channel.drive();
  stokes.solve(drive);
  SteadyOptions steady_options;
  steady_options.tolerance = 1e-10;
  SteadySolver steady(stokes, steady_options);
  EXPECT_TRUE(approach(
                  steady, drive, 0.0, inertia, [](double, const SteadyReport&) {}, "steady")
                  .reached);
  const std::vector<Quad> before(stokes.all_values().begin(), stokes.all_values().end());
  const MomentumRows rows = steady_momentum_rows(stokes, drive, inertia);
  const Vec3 force = body_forces(stokes.op(), stokes.values(), drive, {0}, rows)[0].total();
  UnsteadySolver flow(
      stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, inertia);
  std::ranges::copy(before, stokes.all_values().begin());
  flow.begin_here(drive);
  flow.keep_rate();
  for (int i = 0; i < 4; ++i) flow.step(0.1);
  double off = 0.0;
  for_each_unknown(stokes.op(), [&](std::size_t v, int, int, int, const Index&) {
    for (std::size_t d = 0; d < 3; ++d) off = std::max(off, std::abs(stokes.all_values()[v].v[d] - before[v].v[d]));
  });
  const Vec3 now = body_forces(stokes.op(), stokes.values(), drive, {0}, flow.momentum_rows())[0].total();
  return {comm.max(off), norm(now - force) / norm(force)};
}

// What the steady solver finds does not change in time, nor the force: past a disc at ρ U D / μ = 16, with finer cells
// that begin in the middle of it, too, and where the outlet cuts the eddies behind it, at 32.
TEST(UnsteadyEnds, SteadyFlowStaysAsItIsMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel whole{{0, 20, 10, false, FlowSide::no_slip}, 2.0};
  const PlaneChannel refined{{0, 20, 12, false, FlowSide::no_slip}, 2.0, {8.0, 16.0}};
  const PlaneChannel cut{{1, 10, 10, true, FlowSide::no_slip}, 2.0};
  for (const auto& [channel, inertia] : {std::pair{whole, 4.0}, {refined, 4.0}, {cut, 8.0}}) {
    const auto [flow, force] = change_of_steady(comm, channel, inertia);
    EXPECT_LT(flow, 1e-6) << inertia;
    EXPECT_LT(force, 1e-6) << inertia;
  }
}

/// A stream past a disc that sets in within a tenth of a unit of time.
struct StartingStream {
  StartingStream(const Comm& comm, const PlaneChannel& channel, double inertia, double per_time = 1.0)
      : geometry(channel.geometry(comm)),
        stokes(test::composite_on(comm, geometry), channel.kinds(), test::stokes_options(1e-9)),
        flow(
            stokes, geometry,
            [channel, per_time](double t) { return channel.drive(std::min(1.0, 10.0 * t / per_time)); },
            channel.drive(), TimeScheme::bdf2, inertia) {
    flow.keep_rate();
  }
  Geometry geometry;
  StokesSolver stokes;
  UnsteadySolver flow;
};

/// Stress on the low side of a plane of cells across x, inlet to outlet, in units of h0.
Vec3 stress_on_plane(StartingStream& s, int plane) {
  Vec3 sum;
  const StokesLevels& op = s.stokes.op();
  for_each_unknown(op, [&](std::size_t, int l, int b, int vof, const Index& cell) {
    if (cell[0] != plane << l) return;
    const double h = StokesLevels::width(l);
    const LevelGraph& graph = op.level(l).geometry().graph;
    std::uint16_t slot = 0;
    for_each_vof(graph.box(b), [&](int i, int, const std::array<std::uint16_t, 6>& slots) {
      if (i == vof) slot = slots[0];
    });
    const Quad *x = s.stokes.values().level(l).x.box(b).data(), &here = x[vof], &before = x[slot];
    for (std::size_t c = 0; c < 2; ++c) sum.v[c] -= h * (here.v[c] - before.v[c]);
    sum.v[0] += h * 0.5 * (here.v[3] + before.v[3]);
  });
  op.comm().sum(std::span(sum.v));
  return sum;
}

/// κ ∂u/∂t of the cells between two planes across x, and what they pass on of their momentum, in units of h0.
std::array<Vec3, 2> taken_between(StartingStream& s, const MomentumRows& rows, int low, int high) {
  std::array<Vec3, 2> sum;
  const StokesLevels& op = s.stokes.op();
  for_each_unknown(op, [&](std::size_t v, int l, int b, int vof, const Index& cell) {
    if (cell[0] < low << l || cell[0] >= high << l) return;
    const LevelGeometry& level = op.level(l).geometry();
    const BoxGraph box = level.graph.box(b);
    const auto irregular = box.row_vof.first(box.n_irregular);
    const auto at = std::ranges::lower_bound(irregular, static_cast<std::uint16_t>(vof));
    const double kappa = at != irregular.end() && *at == vof ? level.box(b).moments[at - irregular.begin()].kappa : 1.0;
    const double h = StokesLevels::width(l);
    for (std::size_t c = 0; c < 3; ++c) {
      sum[0].v[c] += h * h * h * kappa * rows.rate[v][c];
      sum[1].v[c] += h * std::max(kappa, 0.25) * rows.advection[v].v[c];  // as in Advection::per_volume()
    }
  });
  for (Vec3& part : sum) op.comm().sum(std::span(part.v));
  return sum;
}

// While a stream sets in, the force on a disc is what planes before and behind it pass on less what the fluid between
// them takes to get faster; on one level, with finer cells around it, and with some that begin in the middle of it.
TEST(UnsteadyEnds, ForceIsTheMomentumThatIsMissingMpi) {
  const Comm comm = Comm::world();
  for (const std::array<double, 2>& finer : {std::array{0.0, 0.0}, std::array{4.0, 16.0}, std::array{8.0, 16.0}}) {
    StartingStream s(comm, {0, 24, 12, false, FlowSide::symmetry, 2.0, finer}, 4.0);
    for (int i = 0; i < 3; ++i) s.flow.step(0.03);
    const MomentumRows rows = s.flow.momentum_rows();
    const Vec3 force = body_forces(s.stokes.op(), s.stokes.values(), {}, {0}, rows)[0].total();
    const Vec3 in = stress_on_plane(s, 3), out = stress_on_plane(s, 19);
    const auto [change, carried] = taken_between(s, rows, 3, 19);
    EXPECT_NEAR(force[0], in[0] - out[0] - carried[0] - change[0], 1e-6 * in[0]) << finer[0];  // single precision
    EXPECT_GT(change[0], 0.5 * force[0]);
  }
}

// Where finer cells begin at a side without friction, nothing grows: a stream that has set in comes to rest at the
// steady flow. (Without images of what is seen between the levels the last steps change it by 10 %.)
TEST(UnsteadyEnds, FinerCellsAtSidesWithoutFrictionAreStableMpiAtNight) {
  const Comm comm = Comm::world();
  StartingStream s(comm, {0, 24, 12, false, FlowSide::symmetry, 2.0, {8.0, 16.0}}, 0.1);
  std::vector<Quad> before;
  for (int i = 0; i < 120; ++i) {
    before.assign(s.stokes.all_values().begin(), s.stokes.all_values().end());
    s.flow.step(0.5);
  }
  double change = 0.0, size = 0.0;
  for_each_unknown(s.stokes.op(), [&](std::size_t v, int, int, int, const Index&) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double now = s.stokes.all_values()[v].v[c];
      change = std::max(change, std::abs(now - before[v].v[c]));
      size = std::max(size, std::abs(now));
    }
  });
  EXPECT_LT(comm.max(change), 1e-4);
  EXPECT_LT(comm.max(size), 2.2);
}

// Finer cells everywhere are one level of cells of half the width, with the same force on the disc.
TEST(UnsteadyEnds, FinerCellsEverywhereAreOneLevelMpi) {
  const Comm comm = Comm::world();
  StartingStream two(comm, {0, 16, 8, false, FlowSide::no_slip, 1.4, {0.0, 16.0}}, 4.0);
  PlaneChannel fine{{0, 32, 16, false, FlowSide::no_slip}, 2.8};
  fine.depth = 2;
  StartingStream one(comm, fine, 2.0, 4.0);  // in its units a velocity is as many cells as before in half the time
  std::array<Vec3, 2> force;
  for (int i = 0; i < 4; ++i) {
    two.flow.step(0.03);
    one.flow.step(0.12);
  }
  force[0] = body_forces(two.stokes.op(), two.stokes.values(), {}, {0}, two.flow.momentum_rows())[0].total();
  force[1] = body_forces(one.stokes.op(), one.stokes.values(), {}, {0}, one.flow.momentum_rows())[0].total();
  for (int d = 0; d < 2; ++d) EXPECT_NEAR(2.0 * force[0][d], force[1][d], 1e-7 * force[1][0]) << d;
}

// The same flow and force on any number of ranks.
TEST(UnsteadyEnds, LevelsAreTheSameOnAllRanksMpi) {
  std::array<Vec3, 2> force, velocity;
  const std::array<Comm, 2> comms{Comm::world(), Comm::self()};
  for (const std::size_t i : {0, 1}) {
    StartingStream s(comms[i], {0, 20, 12, false, FlowSide::no_slip, 2.0, {8.0, 16.0}}, 4.0);
    StepReport r;
    for (int n = 0; n < 3; ++n) r = s.flow.step(0.03);
    velocity[i] = r.velocity;
    force[i] = body_forces(s.stokes.op(), s.stokes.values(), {}, {0}, s.flow.momentum_rows())[0].total();
  }
  for (int d = 0; d < 2; ++d) {
    EXPECT_NEAR(velocity[0][d], velocity[1][d], 1e-8) << d;
    EXPECT_NEAR(force[0][d], force[1][d], 1e-7 * force[1][0]) << d;
  }
}

}  // namespace
}  // namespace karst::unsteady_ends_test
