// SPDX-License-Identifier: BSD-3-Clause
// Flow that comes in with a given velocity and leaves against a given pressure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fields/face_field.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::flow_inlet_test {
namespace {

constexpr double inlet = 0.7;  ///< velocity; lengths in cells, viscosity 1

struct Inflow {
  int axis = 0;
  bool from_high = false;              ///< comes in at the high end
  FlowSide sides = FlowSide::no_slip;  ///< of what is not periodic beside the flow
};

class Solved {
 public:
  Solved(const Comm& comm, const Geometry& geometry, const Inflow& flow, double tolerance = 1e-11,
         const EndProfile& profile = {})
      : comm_(comm), flow_(flow) {
    FlowSides sides;
    sides.fill(flow.sides);
    const int in = side_of(flow.axis, flow.from_high);
    sides[in] = FlowSide::velocity;
    sides[opposite(in)] = FlowSide::pressure;
    StokesOptions options;
    options.krylov.tolerance = tolerance;
    solver_ = std::make_unique<StokesSolver>(test::composite_on(comm, geometry), sides, options);
    if (profile) solver_->op().set_profile(in, profile);
    StokesDrive drive;
    drive.at_end[in] = inlet;
    report = solver_->solve(drive);
  }

  /// f(cell, velocity and pressure) for all own VoFs of level 0.
  template <class F>
  void for_each(F&& f) const {
    const LevelGraph& graph = solver_->op().level(0).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(
          box, [&](int vof, int cell) { f(box.cells.cell(cell), solver_->all_values()[graph.vof_begin(b) + vof]); });
    }
  }

  /// Flow rates through both ends, and area that is open at the inlet to cells that flow. [h0²]
  struct Ends {
    double in = 0.0, out = 0.0, area = 0.0, net = 0.0;
  };
  Ends ends() const {
    FaceField flux = solver_->face_fluxes();
    CellField net(flux.composite());
    divergence(flux, net);
    Ends sum;
    const std::size_t axis = flow_.axis;
    const std::size_t in = 2 * axis + flow_.from_high, out = in ^ 1U;
    for (int l = 0; l < net.n_levels(); ++l) {
      const LevelGeometry& level = solver_->op().level(l).geometry();
      const double h2 = std::pow(0.25, l);
      sum.net = std::max(sum.net, local_max_norm(net.level(l)));
      for (int b = 0; b < level.graph.n_local(); ++b) {
        const BoxGraph box = level.graph.box(b);
        const auto still = solver_->op().level(l).rows().still_in(b);
        const double* f = flux.primary(l).box(b, flow_.axis).data();
        const auto rate = [&](std::size_t s, std::size_t v, std::size_t ghost) {
          return box.name(static_cast<int>(ghost)) == domain_face ? f[s % 2 == 1 ? ghost : v] : 0.0;
        };
        for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
          const std::size_t v = vof;
          if (std::ranges::binary_search(flux.grid().covered_in(l, b), vof)) return;
          sum.in += rate(in, v, slots[in]);
          sum.out += rate(out, v, slots[out]);
          if (box.name(slots[in]) == domain_face && !std::ranges::binary_search(still, vof))
            sum.area += h2 * primary_area(level, b, vof, in);
        });
        for (std::size_t e = 0; e < box.extra.size(); ++e)
          if (const ExtraFace& x = box.extra[e]; x.side == in && box.name(x.neighbour) == domain_face &&
                                                 !std::ranges::binary_search(still, x.vof) &&
                                                 !std::ranges::binary_search(flux.grid().covered_in(l, b), x.vof))
            sum.area += h2 * level.box(b).extra[e].aperture;
      }
    }
    const double sign = flow_.from_high ? -1.0 : 1.0;
    return {sign * comm_.sum(sum.in), sign * comm_.sum(sum.out), comm_.sum(sum.area), comm_.max(sum.net)};
  }

  StokesSolver& solver() const { return *solver_; }
  StokesReport report;

 private:
  static double primary_area(const LevelGeometry& level, int b, int vof, std::size_t side) {
    const BoxGraph box = level.graph.box(b);
    const auto irregular = box.row_vof.first(box.n_irregular);
    const auto at = std::ranges::lower_bound(irregular, vof);
    if (at == irregular.end() || *at != vof) return 1.0;
    return level.box(b).moments[at - irregular.begin()].aperture[side];
  }

  const Comm& comm_;
  Inflow flow_;
  std::unique_ptr<StokesSolver> solver_;
};

std::unique_ptr<LevelSet> all_fluid() {
  return std::make_unique<test::DistanceFunction>([](const Vec3&) { return 1e3; });
}

/// n along the axis, w across it in the next direction, one in the third, which is periodic.
GridOptions plane_channel(int axis, int n, int w) {
  Index cells = Index::all(1);
  std::array<bool, 3> periodic{true, true, true};
  cells[axis] = n;
  cells[(axis + 1) % 3] = w;
  periodic[axis] = periodic[(axis + 1) % 3] = false;
  return test::flow_grid(cells, periodic);
}

// Without friction what comes in goes on as it is, and needs no pressure: exact but for coefficients in single
// precision.
TEST(FlowInlet, UniformBetweenPlanesOfSymmetryMpi) {
  const Comm comm = Comm::world();
  for (const int axis : {0, 1, 2})
    for (const bool from_high : {false, true}) {
      const Geometry geometry = build_geometry(comm, plane_channel(axis, 12, 8), *all_fluid(), KeepPores::all);
      const Solved flow(comm, geometry, {axis, from_high, FlowSide::symmetry});
      double off = 0.0;
      flow.for_each([&](const Index&, const Quad& q) {
        for (int d = 0; d < 3; ++d)
          off = std::max(off, std::abs(q.v[d] - (d != axis ? 0.0 : from_high ? -inlet : inlet)));
        off = std::max(off, std::abs(q.v[3]));
      });
      EXPECT_LT(comm.max(off), 1e-7) << axis << from_high;
      EXPECT_NEAR(flow.ends().in, 8 * inlet, 1e-9);
    }
}

// Two heights behind the inlet the flow is that between plates: the entrance dies out as exp(-4.2 x / (H/2)).
TEST(FlowInlet, EndsInPoiseuilleFlowMpi) {
  const Comm comm = Comm::world();
  constexpr int n = 40, w = 10;
  std::array<double, 3> largest{};
  for (const int axis : {0, 1, 2}) {
    const Geometry geometry = build_geometry(comm, plane_channel(axis, n, w), *all_fluid(), KeepPores::all);
    const Solved flow(comm, geometry, {axis, axis == 1, FlowSide::no_slip});
    const double sign = axis == 1 ? -1.0 : 1.0;
    double off = 0.0, slope = 0.0;
    flow.for_each([&](const Index& cell, const Quad& q) {
      const int behind = axis == 1 ? n - 1 - cell[axis] : cell[axis];
      if (behind < 2.5 * w) return;
      const double y = (cell[(axis + 1) % 3] + 0.5) / w;
      off = std::max(off, std::abs(sign * q.v[axis] - 6.0 * inlet * y * (1.0 - y)));
      slope = std::max(slope, std::abs(q.v[3] / (n - behind - 0.5) / (12.0 * inlet / (w * w)) - 1.0));
    });
    EXPECT_LT(comm.max(off), 2e-7) << axis;
    EXPECT_LT(comm.max(slope), 2e-6) << axis;
    const auto [in, out, area, net] = flow.ends();
    EXPECT_NEAR(in / (inlet * w), 1.0, 1e-12);
    EXPECT_NEAR(out / in, 1.0, 1e-9);
    EXPECT_NEAR(flow.report.velocity[axis], sign * inlet, 1e-9);
    EXPECT_LT(net, 1e-9 * inlet);
    EXPECT_LE(flow.report.krylov.iterations, 40);
    largest[axis] = flow.report.largest_speed;
  }
  EXPECT_NEAR(largest[1] / largest[0], 1.0, 1e-8);
  EXPECT_NEAR(largest[2] / largest[0], 1.0, 1e-8);
}

// A parabola comes in and goes on: exact between plates on grid lines, from the first cell to the last.
TEST(FlowInlet, ParabolaGoesOnMpi) {
  const Comm comm = Comm::world();
  constexpr int n = 12, w = 6;
  const EndProfile profile = [](const Vec3& x) { return 6.0 * x[1] / w * (1.0 - x[1] / w); };
  const Geometry geometry = build_geometry(comm, plane_channel(0, n, w), *all_fluid(), KeepPores::all);
  const Solved flow(comm, geometry, {}, 1e-11, profile);
  double off = 0.0;
  flow.for_each([&](const Index& cell, const Quad& q) {
    const Vec3 x{cell[0] + 0.5, cell[1] + 0.5, 0.5};
    off = std::max(off, std::abs(q.v[0] - inlet * profile(x)));
    off = std::max(off, std::abs(q.v[1]));
    off = std::max(off, std::abs(q.v[3] - 12.0 * inlet / (w * w) * (n - x[0])));
  });
  EXPECT_LT(comm.max(off), 1e-6);
  EXPECT_NEAR(flow.ends().in, inlet * w, 1e-9);
}

// A packing that the inlet cuts: cut faces, joined pieces, one and two levels.
TEST(FlowInlet, NothingIsLostWhereSolidCutsTheInletMpi) {
  const Comm comm = Comm::world();
  const GridOptions one = test::flow_grid(Index::all(16), {false, false, false});
  for (const GridOptions& grid : {one, test::refined_in(one, 1, {0, 0, 3}, {9, 16, 12})}) {
    const Geometry geometry = build_geometry(comm, grid, *test::packing(9, 3.3, 16, false, 5), KeepPores::connected);
    const Solved flow(comm, geometry, {0, false, FlowSide::no_slip}, 1e-10);
    const auto [in, out, area, net] = flow.ends();
    EXPECT_LT(area, 250.0);
    EXPECT_NEAR(in / (inlet * area), 1.0, 1e-9) << grid.levels;
    EXPECT_NEAR(out / in, 1.0, 1e-8) << grid.levels;
    EXPECT_LT(net, 1e-8 * inlet) << grid.levels;
    EXPECT_NEAR(flow.report.velocity[0] / (in / 256.0), 1.0, 1e-6) << grid.levels;
    EXPECT_LE(flow.report.krylov.iterations, 45) << grid.levels;
  }
}

}  // namespace
}  // namespace karst::flow_inlet_test
