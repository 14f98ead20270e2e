// SPDX-License-Identifier: BSD-3-Clause
// The fluxes that a flow hands on: what carries solutes has every VoF as a control volume, also those where nothing
// flows, and must not gain or lose water in any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "fields/face_field.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/flow_fluxes.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::flow_fluxes_test {
namespace {

constexpr double tolerance = 1e-9;  ///< of the largest flux; the solver is asked for a tenth of it in its norm

struct Balance {
  double net = 0.0, largest = 0.0;    ///< of a VoF, through a face [velocity h0²]
  double through_levels = 0.0;        ///< Σ |flux| between levels
  std::int64_t still = 0, extra = 0;  ///< VoFs without flow, extra faces with flow
  double in = 0.0, velocity = 0.0;    ///< through the low end in x; mean over the domain times its area
  double left = 0.0;                  ///< net flux of a VoF that the solver says it left
};

template <class T>
double largest_of(const T& values) {
  double most = 0.0;
  for (const double x : values) most = std::max(most, std::abs(x));
  return most;
}

Balance balance_of(const Comm& comm, const GridOptions& grid, const LevelSet& walls, const FlowSides& sides) {
  const Geometry geometry = build_geometry(comm, grid, walls, KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = 0.1 * tolerance;
  StokesSolver solver(test::composite_on(comm, geometry), sides, options);
  StokesDrive drive;
  if (grid.periodic[0])
    drive.force = {1.0, 0.3, -0.2};
  else
    drive.at_end[0] = grid.cells[0];
  const StokesReport report = solver.solve(drive);
  FaceField flux = solver.face_fluxes();
  CellField net(flux.composite());
  divergence(flux, net);
  Balance b;
  b.left = report.divergence * report.largest_speed;
  b.velocity = report.velocity[0] * grid.cells[1] * grid.cells[2];
  for (int l = 0; l < net.n_levels(); ++l) {
    const LevelGraph& graph = flux.grid().graph(l);
    b.net = std::max(b.net, local_max_norm(net.level(l)));
    for (int d = 0; d < 3; ++d)
      b.largest =
          std::max(b.largest,
                   largest_of(std::span(flux.primary(l).data(d), static_cast<std::size_t>(flux.primary(l).n_slots()))));
    b.largest = std::max(b.largest, largest_of(flux.extra(l)));
    b.extra += std::ranges::count_if(flux.extra(l), [](double x) { return x != 0.0; });
    for (const double x : flux.coarse_fine(l)) b.through_levels += std::abs(x);
    for (int box = 0; box < graph.n_local(); ++box) {
      b.still += std::ssize(solver.op().level(l).rows().still_in(box));
      const BoxGraph cells = graph.box(box);
      for_each_vof(cells, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        if (cells.name(slots[0]) == domain_face && !std::ranges::binary_search(flux.grid().covered_in(l, box), vof))
          b.in += flux.primary(l).box(box, 0)[vof];
      });
    }
  }
  return {comm.max(b.net),
          comm.max(b.largest),
          comm.sum(b.through_levels),
          comm.sum(b.still),
          comm.sum(b.extra),
          comm.sum(b.in),
          b.velocity,
          b.left};
}

// Overlapping spheres at random places: cells cut by several of them, joined pieces, VoFs without flow.
TEST(FlowFluxes, NothingIsLostInARandomPackingMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const GridOptions one = test::flow_grid(Index::all(16)), two = test::refined_in(one, 1, {5, 0, 3}, {13, 11, 12});
  for (const GridOptions& grid : {one, two}) {
    const Balance b = balance_of(comm, grid, *walls, {});
    EXPECT_LE(b.net, tolerance * b.largest) << grid.levels;
    EXPECT_LE(b.net, b.left + 1e-13 * b.largest) << grid.levels;
    EXPECT_GT(b.extra, 0);
    EXPECT_GT(b.still, 0);
    EXPECT_EQ(b.through_levels > 0.0, grid.levels == 2);
  }
}

// Between two pressures, with walls and planes of symmetry beside the flow, finer near the inlet.
TEST(FlowFluxes, NothingIsLostBetweenTwoEndsMpi) {
  const Comm comm = Comm::world();
  const std::array<bool, 3> open{false, false, false};
  FlowSides sides{FlowSide::pressure, FlowSide::pressure, FlowSide::no_slip,
                  FlowSide::no_slip,  FlowSide::symmetry, FlowSide::symmetry};
  const GridOptions grid = test::refined_in(test::flow_grid(Index::all(16), open), 1, {0, 0, 3}, {9, 16, 12});
  const Balance b = balance_of(comm, grid, *test::packing(9, 3.3, 16, false, 5), sides);
  EXPECT_LE(b.net, tolerance * b.largest);
  EXPECT_GT(b.through_levels, 0.0);
  EXPECT_NEAR(b.in / b.velocity, 1.0, 1e-6);
}

/// Largest difference of two fields over the largest number of the first.
double deviation(const Comm& comm, const FaceField& a, const FaceField& b, double factor) {
  double off = 0.0, most = 0.0;
  const auto compare = [&](std::span<const double> x, std::span<const double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      most = std::max(most, std::abs(x[i]));
      off = std::max(off, std::abs(x[i] - factor * y[i]));
    }
  };
  for (int l = 0; l < a.grid().n_levels(); ++l) {
    for (int d = 0; d < 3; ++d) {
      const LevelGraph& graph = a.grid().graph(l);
      for (int box = 0; box < graph.n_local(); ++box) {
        const std::size_t n = graph.vof_begin(box + 1) - graph.vof_begin(box);
        compare({a.primary(l).box(box, d).data(), n}, {b.primary(l).box(box, d).data(), n});
      }
    }
    compare(a.extra(l), b.extra(l));
    compare(a.coarse_fine(l), b.coarse_fine(l));
  }
  return comm.max(off) / comm.max(most);
}

/// Largest net flux of a VoF.
double largest_net(const Comm& comm, FaceField& flux) {
  CellField net(flux.composite());
  divergence(flux, net);
  double most = 0.0;
  for (int l = 0; l < net.n_levels(); ++l) most = std::max(most, local_max_norm(net.level(l)));
  return comm.max(most);
}

// Step by step nothing is lost either, and a step that is long enough ends in the fluxes of the steady flow.
TEST(FlowFluxes, OfAFlowInTimeAloneByDay) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const GridOptions one = test::flow_grid(Index::all(16)), two = test::refined_in(one, 1, {5, 0, 3}, {13, 11, 12});
  for (const auto& [grid, inertia] : {std::pair{one, 2.0}, {two, 0.0}}) {
    const Geometry geometry = build_geometry(comm, grid, *walls, KeepPores::all);
    StokesOptions options;
    options.krylov.tolerance = 1e-10;
    StokesSolver solver(test::composite_on(comm, geometry), {}, options);
    StokesDrive drive;
    drive.force = {1.0, 0.3, -0.2};
    solver.solve(drive);
    const FaceField steady = solver.face_fluxes();
    UnsteadySolver in_time(
        solver, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, inertia);
    FaceField flux(solver.op().composite());
    in_time.face_fluxes(flux);
    EXPECT_EQ(deviation(comm, steady, flux, 0.0), 1.0);
    EXPECT_EQ(largest_net(comm, flux), 0.0);  // at rest
    double speed = 0.0;
    for (const double dt : {0.1, 0.1, 0.2}) {
      speed = in_time.step(dt).largest_speed;
      in_time.face_fluxes(flux);
      EXPECT_LT(largest_net(comm, flux), 1e-7 * speed) << grid.levels << " " << inertia;
    }
    EXPECT_GT(deviation(comm, steady, flux, 1.0), 0.01);
    if (inertia > 0.0) continue;
    in_time.step(1e12);
    in_time.face_fluxes(flux);
    EXPECT_LT(deviation(comm, steady, flux, 1.0), 1e-6) << grid.levels;
  }
}

// What a later job makes of the solution that was kept is what the solver has, whatever the units of the drive.
TEST(FlowFluxes, OfAColumnAreThoseOfItsSolverMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const GridOptions one = test::flow_grid(Index::all(16)), two = test::refined_in(one, 1, {5, 0, 3}, {13, 11, 12});
  for (const GridOptions& grid : {one, two}) {
    const Geometry geometry = build_geometry(comm, grid, *walls, KeepPores::all);
    FlowOptions options;
    options.model = FlowModel::stokes;
    options.drive = FlowDrive::velocity;
    options.velocity = -3e-4;
    options.axes = {1};
    const FluidOptions water;
    const double h = 2e-6;
    FlowWatch watch;
    watch.keep_solution = true;
    const FlowColumn kept = permeability(test::ground_on(comm, geometry), options, water, {h, 0.4, 1e5}, watch).at(0);
    StokesOptions solve;
    solve.krylov.tolerance = options.tolerance;
    solve.krylov.restart = FlowBasis::short_basis;  // as the other one
    StokesSolver solver(test::composite_on(comm, geometry),
                        flow_sides(geometry.grid.levels[0].layout.domain(), options, 1), solve);
    StokesDrive drive;
    drive.force[1] = 1.0;
    const StokesReport report = solver.solve(drive);
    const FaceField fluxes = flow_fluxes(test::composite_on(comm, geometry), options, water.viscosity, h, kept);
    EXPECT_NEAR(kept.darcy_velocity[1], options.velocity, 1e-9 * std::abs(options.velocity));
    EXPECT_LT(deviation(comm, fluxes, solver.face_fluxes(), 1.0 / report.velocity[1]), 1e-12) << grid.levels;
  }
}

// Those of the operator that solved the flow are those of one that is made again, to the last bit, and refused
// elsewhere.
TEST(FlowFluxes, KeptWithTheSolveAreThoseOfTheSolutionMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const GridOptions one = test::flow_grid(Index::all(16)), two = test::refined_in(one, 1, {5, 0, 3}, {13, 11, 12});
  for (const auto& [grid, model] :
       {std::pair{one, FlowModel::stokes}, {one, FlowModel::steady}, {two, FlowModel::stokes}}) {
    const Geometry geometry = build_geometry(comm, grid, *walls, KeepPores::all);
    FlowOptions options;
    options.model = model;
    options.drive = FlowDrive::pressure_gradient;
    options.gradient = {0.0, -40.0, 0.0};
    options.axes = {1};
    const FluidOptions water;
    const double h = 2e-6;
    FlowWatch watch;
    watch.keep_solution = watch.keep_fluxes = true;
    const auto ground = test::ground_on(comm, geometry);
    FlowColumn column = permeability(ground, options, water, {h, 0.4, 1e5}, watch).at(0);
    ASSERT_TRUE(column.fluxes);
    const FaceField kept = flow_fluxes(ground->composite(), options, water.viscosity, h, column, 0.7);
    column.fluxes.reset();
    const FaceField made = flow_fluxes(ground->composite(), options, water.viscosity, h, column, 0.7);
    EXPECT_EQ(deviation(comm, made, kept, 1.0), 0.0) << grid.levels;
    column.fluxes =
        std::make_shared<FaceField>(test::composite_on(comm, build_geometry(comm, grid, *walls, KeepPores::all)));
    EXPECT_THROW(flow_fluxes(ground->composite(), options, water.viscosity, h, column), Error);
  }
}

}  // namespace
}  // namespace karst::flow_fluxes_test
