// SPDX-License-Identifier: BSD-3-Clause
// Flow with inertia that comes in with a given velocity and leaves against a given pressure.
#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "ins/operator/advection_kernels.hpp"
#include "ins/solve/steady_approach.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::inflow_inertia_test {
namespace {

/// A plane channel along an axis, w cells high, one thick. Lengths in cells, viscosity 1, a velocity of 1 comes in.
struct PlaneChannel : test::PlaneStream {
  EndProfile profile{};
  std::function<double(double, double)> solid{};  ///< distance from it at a place along and across the channel

  Geometry geometry(const Comm& comm) const {
    const test::DistanceFunction phi([this](const Vec3& x) { return solid ? solid(x[axis], x[across()]) : 1e3; });
    return build_geometry(comm, grid(), phi, KeepPores::connected);
  }
};

/// The flow with inertia = ρ U h / μ.
struct Solved {
  Solved(const Comm& comm, const PlaneChannel& channel, double inertia, double tolerance = 1e-10)
      : geometry(channel.geometry(comm)), drive(channel.drive()) {
    StokesOptions options;
    options.krylov.tolerance = tolerance;
    stokes = std::make_unique<StokesSolver>(test::composite_on(comm, geometry), channel.kinds(), options);
    if (channel.profile) stokes->op().set_profile(static_cast<int>(channel.in()), channel.profile);
    stokes->solve(drive);
    SteadyOptions steady_options;
    steady_options.tolerance = tolerance;
    steady = std::make_unique<SteadySolver>(*stokes, steady_options);
    way = approach(
        *steady, drive, 0.0, inertia, [](double, const SteadyReport&) {}, "steady");
  }
  /// f(cell, velocity and pressure) for all own VoFs.
  template <class F>
  void for_each(F&& f) const {
    const LevelGraph& graph = geometry.levels[0].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box,
                   [&](int vof, int cell) { f(box.cells.cell(cell), stokes->all_values()[graph.vof_begin(b) + vof]); });
    }
  }
  Geometry geometry;
  StokesDrive drive;
  std::unique_ptr<StokesSolver> stokes;
  std::unique_ptr<SteadySolver> steady;
  SteadyApproach way;
};

double disc(double x, double y) { return std::hypot(x - 10.3, y - 7.6) - 3.0; }

// A uniform stream between planes of symmetry goes on as it is, whatever its inertia, along every axis.
TEST(InflowInertia, FreeStreamIsKeptMpi) {
  const Comm comm = Comm::world();
  for (const int axis : {0, 1, 2}) {
    const PlaneChannel channel{{axis, 12, 8, axis == 1, FlowSide::symmetry}};
    const Solved flow(comm, channel, 30.0);
    ASSERT_TRUE(flow.way.reached);
    double off = 0.0;
    flow.for_each([&](const Index&, const Quad& q) {
      for (int d = 0; d < 3; ++d)
        off = std::max(off, std::abs(q.v[d] - (d != axis ? 0.0 : channel.from_high ? -1.0 : 1.0)));
      off = std::max(off, std::abs(q.v[3]));
    });
    EXPECT_LT(comm.max(off), 1e-6) << axis;  // coefficients are in single precision
  }
}

// The parabola between plates has straight streamlines: it comes in and leaves as it is, with the pressure of Stokes
// flow, at ρ U H / μ = 80. A uniform inflow takes longer than without inertia, and a parabola at the end of it.
TEST(InflowInertia, PoiseuilleFlowIsKeptMpi) {
  const Comm comm = Comm::world();
  for (const int axis : {0, 1, 2}) {
    PlaneChannel channel{{axis, 12, 8, axis == 2}};
    channel.profile = [&](const Vec3& x) { return 6.0 * x[channel.across()] / 8 * (1.0 - x[channel.across()] / 8); };
    const Solved flow(comm, channel, 10.0);
    ASSERT_TRUE(flow.way.reached);
    double off = 0.0;
    flow.for_each([&](const Index& cell, const Quad& q) {
      const Vec3 x{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5};
      const double u = (channel.from_high ? -1.0 : 1.0) * channel.profile(x);
      off = std::max(off, std::abs(q.v[axis] - u));
      off = std::max(off, std::abs(q.v[channel.across()]));
      const double left = channel.from_high ? x[axis] : 12.0 - x[axis];
      off = std::max(off, std::abs(q.v[3] - 12.0 / 64 * left));
    });
    EXPECT_LT(comm.max(off), 3e-6) << axis;
  }
}

/// What advection takes out of all cells, Σ κ (u·∇)u, and what goes out of the domain with the fluid: through the
/// outlet less through the inlet; the strongest flow back in through the outlet.
struct Momentum {
  std::array<double, 3> cells{}, ends{};
  double back = 0.0;
};

/// Of a side of a cell.
double open_part(const StokesOperator& op, int b, std::size_t v, std::size_t side) {
  const std::span<const FlowRow> rows = op.rows().of(b);
  const auto row = std::ranges::lower_bound(rows, v, {}, &FlowRow::vof);
  if (row != rows.end() && row->vof == v) return double{row->area[side]};
  return op.is_plain(static_cast<std::size_t>(op.geometry().graph.vof_begin(b)) + v) ? 1.0 : 0.0;
}

Momentum momentum_of(const Comm& comm, Solved& flow, std::size_t in) {
  const StokesOperator& op = flow.stokes->op().level(0);
  LevelValues& u = flow.stokes->values().level(0);
  std::vector<Quad> y(op.n_own());
  flow.stokes->residual(flow.drive, y);
  std::ranges::fill(y, Quad{});
  const Advection advection(op);
  advection.add(1.0, u, flow.drive, y);
  Field fluxes(op.geometry().graph, 3, Purpose::buffers);
  op.face_fluxes(u, {}, 1.0, fluxes);
  Momentum sum;
  for (int b = 0; b < op.geometry().graph.n_local(); ++b) {
    const BoxGraph graph = op.geometry().graph.box(b);
    const std::vector<double> volume = test::advected_volumes(op.geometry(), b);
    const kernels::PresentCarrying w(advection, u, b, 1.0);
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      const std::size_t v = vof;
      for (std::size_t d = 0; d < 3; ++d) sum.cells[d] += volume[v] * y[op.geometry().graph.vof_begin(b) + v].v[d];
      for (const std::size_t s : {in, in ^ 1U}) {
        if (graph.name(slots[s]) != domain_face) continue;
        const double through = fluxes.box(b, static_cast<int>(s / 2))[s % 2 == 1 ? slots[s] : v];
        const double out = s % 2 == 1 ? through : -through;
        const double share = s == in || out >= 0.0 ? 1.0 : 0.5;  // of what comes back in
        const Quad& carried = u.x.box(b)[s == in ? slots[s] : v];
        const kernels::OpenFace face{v, slots[s], s, open_part(op, b, v, s), 0.0};
        const kernels::Four beyond = face.area > 0.0 ? kernels::beyond_means(w, w.cells, face) : kernels::Four{};
        for (std::size_t d = 0; d < 3; ++d) sum.ends[d] += share * out * carried.v[d] + beyond[d];
        if (s != in) sum.back = std::max(sum.back, -out);
      }
    });
  }
  comm.sum(std::span(sum.cells));
  comm.sum(std::span(sum.ends));
  sum.back = comm.max(sum.back);
  return sum;
}

/// Discs that both ends cut, too.
double discs(double x, double y) {
  return std::min({disc(x, y), std::hypot(x - 0.3, y - 12.4) - 1.9, std::hypot(x - 31.7, y - 3.8) - 2.2});
}

// Momentum is carried in and out through the ends and nowhere else.
TEST(InflowInertia, MomentumGoesThroughTheEndsMpi) {
  const Comm comm = Comm::world();
  for (const int axis : {0, 1, 2}) {
    const PlaneChannel channel{{axis, 32, 16, axis == 1, FlowSide::no_slip}, {}, discs};
    Solved flow(comm, channel, 3.0, 1e-11);
    ASSERT_TRUE(flow.way.reached);
    const Momentum m = momentum_of(comm, flow, channel.in());
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(m.cells[d], m.ends[d], 1e-7) << axis << ' ' << d;
    EXPECT_GT(std::abs(m.cells[axis]), 0.5);
  }
}

// The outlet cuts the eddies behind a disc, at ρ U D / μ = 36: fluid comes back in through it, and nothing grows.
TEST(InflowInertia, EddiesMayReachTheOutletMpi) {
  const Comm comm = Comm::world();
  const PlaneChannel channel{{0, 16, 16, false, FlowSide::no_slip}, {}, disc};
  Solved flow(comm, channel, 6.0);
  ASSERT_TRUE(flow.way.reached);
  EXPECT_EQ(flow.way.between, 0);
  const Momentum m = momentum_of(comm, flow, channel.in());
  EXPECT_GT(m.back, 0.01);
  EXPECT_NEAR(m.cells[0], m.ends[0], 1e-6);
  EXPECT_LT(flow.way.last.flow.largest_speed, 2.5);
}

// The same flow along all axes, and from either end.
TEST(InflowInertia, SameAlongAllAxes) {
  const Comm comm = Comm::self();
  std::vector<double> speeds;
  for (const int axis : {0, 1, 2}) {
    const Solved flow(comm, {axis, 32, 16, false, FlowSide::no_slip, {}, disc}, 3.0);
    ASSERT_TRUE(flow.way.reached);
    EXPECT_LE(flow.way.newton_steps, 7);
    speeds.push_back(flow.way.last.flow.largest_speed);
  }
  EXPECT_NEAR(speeds[1] / speeds[0], 1.0, 1e-8);
  EXPECT_NEAR(speeds[2] / speeds[0], 1.0, 1e-8);
}

}  // namespace
}  // namespace karst::inflow_inertia_test
