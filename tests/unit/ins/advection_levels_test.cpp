// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection_levels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/body_forces.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::advection_levels_test {
namespace {

/// A packing of 16³ cells whose middle has half the width, periodic or not along x.
Geometry refined_packing(const Comm& comm, bool periodic_x) {
  const GridOptions grid =
      test::refined_in(test::flow_grid(Index::all(16), {periodic_x, true, true}), 1, {3, 3, 3}, {11, 12, 13});
  return build_geometry(comm, grid, *test::packing(40, 3.2, 16, true), KeepPores::connected);
}

/// f(place [h0]) for all own unknowns, 0 under the fine level.
template <class F>
void set_values(const Geometry& geometry, const StokesLevels& op, FlowValues& u, F&& f) {
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGraph& graph = geometry.levels[l].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        const Index at = box.cells.cell(cell);
        Quad& q = u.level(l).x.box(b)[vof];
        q = f(StokesLevels::width(l) * Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5});
        q.v[3] *= StokesLevels::width(l);
      });
      for (const std::uint16_t v : op.composite()->covered_in(l, b)) u.level(l).x.box(b)[v] = {};
    }
  }
}

// Inertia is quadratic where no bound of what carries is reached, or all are by a flow that nowhere turns:
// N(u + v) - N(u - v) = 2 N'(u) v, with inlet, outlet and faces between levels.
TEST(AdvectionLevels, LinearisedIsTheDerivativeMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_packing(comm, false);
  StokesLevels op(test::composite_on(comm, geometry), {FlowSide::velocity, FlowSide::pressure});
  FlowValues u(op);
  AdvectionLevels advection(op);
  StokesDrive drive;
  drive.force = {0, 0.7, 0};
  drive.at_end[0] = 0.8;
  const auto set = [&](double a, double b, double stream = 0.0) {
    set_values(geometry, op, u, [&](const Vec3& x) {
      Quad q;
      for (std::size_t d = 0; d < 4; ++d)
        q.v[d] = a * (stream + std::sin(0.7 * x[0] + 1.3 * x[1] * double(d) - x[2] + 0.033)) +
                 b * std::cos(1.1 * x[0] - 0.3 * x[1] + x[2] * double(d));
      return q;
    });
  };
  std::vector<Quad> scratch(op.n_vofs());
  for (const auto& [inertia, stream] : {std::pair{0.1, 0.0}, {1e9, 4.0}}) {
    std::vector<Quad> difference(scratch.size()), linear(scratch.size());
    for (const double sign : {1.0, -1.0}) {
      set(1.0, sign, stream);
      op.apply(u, scratch, drive);
      advection.add(sign * inertia, u, drive, difference);
    }
    set(1.0, 0.0, stream);
    op.apply(u, scratch, drive);
    auto base = on_each_level<BaseFlow>(op);
    advection.set_base(inertia, u, drive, base);
    set(0.0, 1.0);
    op.apply(u, scratch);
    advection.add_linearised(inertia, base, u, linear);
    const auto [worst, largest] = test::derivative_error(comm, linear, difference);
    EXPECT_LT(worst, 1e-6 * largest) << inertia;  // fluxes are kept in single precision
    EXPECT_GT(largest, 0.1 * inertia);
  }
}

// What leaves one level enters the other: no momentum comes or goes.
TEST(AdvectionLevels, MomentumIsKeptMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_packing(comm, true);
  StokesSolver solver(test::composite_on(comm, geometry), {}, test::stokes_options(1e-11));
  const StokesDrive drive = test::driven_by({1.0, 0.5, 0.0});
  solver.solve(drive);
  StokesLevels& op = solver.op();
  std::vector<Quad> y(op.n_vofs());
  solver.residual(drive, y);
  std::ranges::fill(y, Quad{});
  AdvectionLevels(op).add(1.0, solver.values(), drive, y);
  std::array<double, 3> sum{}, size{};
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGeometry& level = geometry.levels[l];
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const std::vector<double> volume = test::advected_volumes(level, b);
      for (std::size_t v = 0; v < volume.size(); ++v)
        for (std::size_t d = 0; d < 3; ++d) {
          const Quad& term = op.part(l, y)[level.graph.vof_begin(b) + v];
          sum[d] += StokesLevels::width(l) * volume[v] * term.v[d];
          size[d] += StokesLevels::width(l) * volume[v] * std::abs(term.v[d]);
        }
    }
  }
  comm.sum(std::span(sum));
  comm.sum(std::span(size));
  for (std::size_t d = 0; d < 3; ++d) EXPECT_LT(std::abs(sum[d]), 1e-8 * size[d]) << d;
}

// N10 with inertia: from rest, a sixth of the pores in finer cells, the flow in time ends in the steady one.
TEST(AdvectionLevels, FlowInTimeEndsInTheSteadyFlowAtNight) {
  const Comm comm = Comm::self();
  const Geometry geometry = refined_packing(comm, true);
  StokesSolver solver(test::composite_on(comm, geometry), {}, test::stokes_options(1e-9));
  const StokesDrive drive = test::driven_by({1.0, 0.5, 0.0});
  const double inertia = 4.0;
  const Vec3 creeping = solver.solve(drive).velocity;
  SteadyOptions steady_options;
  steady_options.tolerance = 1e-9;
  SteadySolver steady(solver, steady_options);
  const auto way = approach(
      steady, drive, 0.0, inertia, [](double, const SteadyReport&) {}, "steady");
  ASSERT_TRUE(way.reached);
  steady.residual(drive, inertia, solver.krylov().work());
  const Vec3 asked = solver.velocity_of(solver.values());
  UnsteadySolver flow(
      solver, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, inertia);
  StepReport r;
  for (int i = 0; i < 20; ++i) r = flow.step(0.3);
  EXPECT_GT(norm(creeping - asked), 0.002 * norm(asked));
  EXPECT_LT(norm(r.velocity - asked), 1e-6 * norm(asked));
}

/// Drag on a disc in a plane stream between planes of symmetry, at ρ U D / μ = 12, n cells across it, over μ U and two
/// cells of depth.
double drag(const Comm& comm, int n, bool refined, int& iterations) {
  const auto phi =
      test::DistanceFunction([n](const Vec3& x) { return std::hypot(x[0] - 2.03 * n, x[1] - 1.48 * n) - 0.5 * n; });
  GridOptions grid = test::flow_grid({6 * n, 3 * n, 2}, {false, false, true});
  if (refined) grid = test::refined_in(grid, 1, {1.0 * n, 0.5 * n, 0.0}, {4.0 * n, 2.5 * n, 2.0});
  const Geometry geometry = build_geometry(comm, grid, phi, KeepPores::connected);
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  FlowSides sides;
  sides.fill(FlowSide::symmetry);
  sides[0] = FlowSide::velocity;
  sides[1] = FlowSide::outlet;
  StokesSolver solver(test::composite_on(comm, geometry), sides, options);
  StokesDrive drive;
  drive.at_end[0] = 1.0;
  solver.solve(drive);
  SteadyOptions steady_options;
  steady_options.tolerance = 1e-9;
  SteadySolver steady(solver, steady_options);
  const double inertia = 12.0 / n;
  const auto way = approach(
      steady, drive, 0.0, inertia, [](double, const SteadyReport&) {}, "steady");
  EXPECT_TRUE(way.reached);
  iterations = way.iterations;
  steady.residual(drive, inertia, solver.krylov().work());
  const MomentumRows rows = steady_momentum_rows(solver, drive, inertia);
  return body_forces(solver.op(), solver.values(), drive, {0}, rows)[0].total()[0];
}

// Half the cell width where the disc and its wake are, from half a diameter before it on: the drag is within 0.3 % of
// that of fine cells everywhere, that of coarse cells within 0.2 %. What is carried through a face between levels is
// the same for both, so coarse cells along finer ones are of first order; this close to the disc it shows.
TEST(AdvectionLevels, DragOfARefinedDiscMpiAtNight) {
  const Comm comm = Comm::world();
  int with_coarse = 0, with_both = 0, with_fine = 0;
  const double coarse = drag(comm, 8, false, with_coarse), both = drag(comm, 8, true, with_both),
               fine = drag(comm, 16, false, with_fine);
  EXPECT_NEAR(coarse / fine, 1.0, 0.002);
  EXPECT_NEAR(both / fine, 1.0, 0.003);
  EXPECT_LE(with_both, 155);  // 141; 149 with fine cells everywhere
  EXPECT_LE(with_fine, 160);
}

}  // namespace
}  // namespace karst::advection_levels_test
