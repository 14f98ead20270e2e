// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/permeability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/core/error.hpp"
#include "ins/upscale/flow_fluxes.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::permeability_test {
namespace {

const FluidOptions water;  // 1e-3 Pa s, 1000 kg/m³

/// A slit of 8 cells between plates across z; open along x and y.
Geometry slit(const Comm& comm, std::array<bool, 3> periodic) {
  LevelSetParts plates;
  plates.push_back(make_level_set(HalfSpace{{0, 0, 2}, {0, 0, 1}}));
  plates.push_back(make_level_set(HalfSpace{{0, 0, 10}, {0, 0, -1}}));
  return build_geometry(comm, test::flow_grid({8, 8, 12}, periodic), *union_of_solids(std::move(plates)),
                        KeepPores::all);
}
constexpr double h = 1e-5;                    // of a cell [m]
constexpr double exact = 8.0 * 64 / 12 / 12;  // H³ / (12 height) in h²: H = 8, height 12

FlowSample sample_of(const Geometry& geometry) {
  return {h, geometry.report.connected_porosity, geometry.report.specific_surface / h};
}

FlowOptions options_for(FlowDrive drive, std::vector<int> axes) {
  FlowOptions options;
  options.model = FlowModel::stokes;
  options.drive = drive;
  options.axes = std::move(axes);
  options.tolerance = 1e-10;
  return options;
}

// Plane channel flow, exact for parabolas: second differences and θ = 1/2 at the plates.
TEST(Permeability, SlitIsExactForBothDrivesMpi) {
  const Comm comm = Comm::world();
  for (const bool periodic : {true, false}) {
    const Geometry geometry = slit(comm, {periodic, true, false});
    FlowOptions options = options_for(periodic ? FlowDrive::pressure_gradient : FlowDrive::pressure_drop, {0});
    options.pressure_drop = 2.0;
    options.gradient = {2.0 / (8 * h), 1, 1};
    const FlowColumn column = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry))[0];
    const double k = column.permeability[0];
    EXPECT_NEAR(k, exact * h * h, 1e-7 * k) << periodic;
    EXPECT_NEAR(column.permeability[2], 0.0, 1e-9 * k);
    // Darcy's law with the gradient of the deck: 2 Pa over 8 cells.
    EXPECT_NEAR(column.gradient, 2.0 / (8 * h), 1e-9 / h);
    EXPECT_NEAR(column.darcy_velocity[0], k / 1e-3 * column.gradient, 1e-12 * column.darcy_velocity[0]);
    EXPECT_NEAR(column.flow_rate, column.darcy_velocity[0] * 8 * 12 * h * h, 1e-12 * column.flow_rate);
    // Hydraulic diameter of a slit: 2 H. Re = ρ U / φ · 2 H / μ.
    const double reynolds = 1000.0 * column.darcy_velocity[0] * 12 / 8 * 2 * 8 * h / 1e-3;
    EXPECT_NEAR(column.reynolds, reynolds, 1e-6 * reynolds);
    EXPECT_NEAR(column.tortuosity, 1.0, 1e-8);
  }
}

// A slit between two rows of cell centres leads through, and no cell has flow in it: its permeability is not 0.
TEST(Permeability, OfASlitBetweenCellCentresIsNotKnown) {
  const Comm comm = Comm::self();
  LevelSetParts plates;
  plates.push_back(make_level_set(HalfSpace{{0, 0, 2.6}, {0, 0, 1}}));
  plates.push_back(make_level_set(HalfSpace{{0, 0, 3.4}, {0, 0, -1}}));
  const Geometry geometry = build_geometry(comm, test::flow_grid({8, 8, 12}, {false, true, false}),
                                           *union_of_solids(std::move(plates)), KeepPores::all);
  const std::vector<FlowColumn> columns = permeability(
      test::ground_on(comm, geometry), options_for(FlowDrive::pressure_drop, {0, 2}), water, sample_of(geometry));
  EXPECT_TRUE(!columns[0].connected && columns[0].unresolved && std::isnan(columns[0].permeability[0]));
  EXPECT_TRUE(!columns[1].connected && !columns[1].unresolved);  // a plate closes it
  EXPECT_EQ(columns[1].permeability[2], 0.0);
}

// The problem is linear: a wanted velocity or flow rate gives the same permeability and exactly that velocity.
TEST(Permeability, VelocityAndFlowRateAreMet) {
  const Comm comm = Comm::self();
  const Geometry geometry = slit(comm, {false, true, false});
  FlowOptions options = options_for(FlowDrive::velocity, {0});
  options.velocity = -3e-4;
  const FlowColumn by_velocity = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry))[0];
  EXPECT_NEAR(by_velocity.darcy_velocity[0], -3e-4, 1e-15);
  EXPECT_LT(by_velocity.gradient, 0.0);
  options.drive = FlowDrive::flow_rate;
  options.flow_rate = 7e-12;
  const FlowColumn by_rate = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry))[0];
  EXPECT_NEAR(by_rate.flow_rate, 7e-12, 1e-22);
  EXPECT_EQ(by_rate.permeability, by_velocity.permeability);
}

// A cycle holds a vector of the basis per iteration, 8 bytes per VoF in whole blocks, with 14 numbers for the sums of a
// block, and a work vector of 16; its operand and means in single precision take no more than those in double precision
// that are not there meanwhile. Afterwards the solution is left, 32.
TEST(Permeability, ACycleHoldsNothingThatItDoesNotNeed) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(16)), *test::packing(40, 3.2, 16, true), KeepPores::connected);
  const auto ground = test::ground_on(comm, geometry);
  FlowOptions options = options_for(FlowDrive::pressure_gradient, {0});
  options.tolerance = 1e-6;
  const std::int64_t none = arena::bytes_now(Purpose::solver);
  StokesOptions as_there = test::stokes_options(1e-6);
  as_there.krylov.restart = FlowBasis::short_basis;
  std::int64_t most = 0;
  as_there.progress = [&](const StokesProgress&) { most = std::max(most, arena::bytes_now(Purpose::solver)); };
  StokesSolver stokes(ground->composite(), flow_sides(geometry.levels[0].graph.layout().domain(), options, 0),
                      as_there);
  const std::int64_t before = arena::bytes_now(Purpose::solver), known = stokes.bytes(), vofs = stokes.op().n_vofs();
  const int n = stokes.solve(test::driven_by({1, 0, 0})).krylov.iterations;
  ASSERT_GE(n, FlowBasis::short_basis);
  const std::int64_t blocks = (vofs + FlowBasis::block - 1) / FlowBasis::block, m = FlowBasis::short_basis;
  EXPECT_EQ(most - before, 16 * vofs + (8 * m * FlowBasis::block + 8 * (m + 2)) * blocks);
  EXPECT_EQ(arena::bytes_now(Purpose::solver) - before, 32 * vofs);
  EXPECT_EQ(stokes.bytes() - known, 32 * vofs);

  const std::int64_t one = arena::bytes_now(Purpose::solver);
  const FlowWatch watch;
  PermeabilitySolver solver(ground, options, water, sample_of(geometry), watch);
  EXPECT_EQ(solver.solve(0).iterations, n);
  EXPECT_EQ(arena::bytes_now(Purpose::solver) - one, one - none);
}

TEST(Permeability, TensorOfAPeriodicPackingIsSymmetricMpi) {
  const Comm comm = Comm::world();
  const auto packing = [&](int n) {
    return build_geometry(comm, test::flow_grid(Index::all(n)), *test::packing(40, 0.2 * n, n, true),
                          KeepPores::connected);
  };
  const Geometry geometry = packing(32), coarse = packing(16);
  const auto columns = permeability(test::ground_on(comm, geometry),
                                    options_for(FlowDrive::pressure_gradient, {0, 1, 2}), water, sample_of(geometry));
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(std::ranges::count(columns, 0.0, &FlowColumn::setup_seconds), 2);  // one set-up for all
  for (const FlowColumn& c : columns) {
    EXPECT_GT(c.permeability[c.axis], 0.0);
    EXPECT_GT(c.tortuosity, 1.0);
    EXPECT_GT(c.pressure_drag, 0.0);
    EXPECT_GT(c.viscous_drag, 0.0);
    EXPECT_NEAR(c.pressure_drag + c.viscous_drag, 1.0, 0.03);  // first order: 6 cells per grain radius
    double share = 0.0;
    for (const double s : c.histogram.share) share += s;
    EXPECT_NEAR(share, 1.0, 1e-12);
  }
  // The tensor: the mean of two solves off the diagonal; positive. Its trace is that of the solves.
  const Matrix3 k = tensor(columns);
  double trace = 0.0;
  for (std::size_t e = 0; e < 3; ++e) {
    trace += columns[e].permeability.v[e];
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(k[e][d], k[d].v[e]);
      EXPECT_NEAR(k[e][d], columns[d].permeability.v[e], asymmetry(columns) * trace);
    }
  }
  const auto main = principal(columns);
  ASSERT_TRUE(main.has_value());
  EXPECT_GT(main->value[2], 0.0);
  EXPECT_GE(main->value[0], main->value[1]);
  EXPECT_GE(main->value[1], main->value[2]);
  EXPECT_NEAR(main->value[0] + main->value[1] + main->value[2], trace, 1e-12 * trace);
  // Shortley-Weller rows are not symmetric, so the two solves agree up to the error of the discretisation, which falls
  // with order 2 or more.
  EXPECT_LT(asymmetry(columns), 2e-3);
  EXPECT_LT(4.0 * asymmetry(columns),
            asymmetry(permeability(test::ground_on(comm, coarse), options_for(FlowDrive::pressure_gradient, {0, 1, 2}),
                                   water, sample_of(coarse))));
}

// S4: the tensor is symmetric, positive, and turns with the sample. Axes in another order and one of them turned round:
// entries go with them. 1e-6 of the trace, at a solver tolerance of 1e-10; what is left are sums in another order.
TEST(Permeability, TensorTurnsWithTheSample) {
  constexpr int n = 16;
  const auto tensor_of = [](const std::function<Vec3(const Vec3&)>& turned) {
    test::Random random(7);
    std::vector<Sphere> spheres;
    for (int i = 0; i < 40; ++i) {
      Vec3 center;
      for (int d = 0; d < 3; ++d) center[d] = n * random();
      spheres.push_back({turned(center), 0.2 * n});
    }
    const auto packing = make_sphere_list(spheres, {Vec3::all(n), {true, true, true}});
    const Geometry geometry =
        build_geometry(Comm::self(), test::flow_grid(Index::all(n)), *packing, KeepPores::connected);
    return tensor(permeability(test::ground_on(Comm::self(), geometry),
                               options_for(FlowDrive::pressure_gradient, {0, 1, 2}), water, sample_of(geometry)));
  };
  const Matrix3 k = tensor_of([](const Vec3& c) { return c; });
  const Matrix3 turned = tensor_of([](const Vec3& c) { return Vec3{n - c[1], c[2], c[0]}; });
  constexpr std::array<double, 3> sign{-1.0, 1.0, 1.0};  // x is -y, y is z, z is x
  const double trace = k[0][0] + k[1][1] + k[2][2];
  double off_diagonal = 0.0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(k[i].v[j], k[j].v[i], 1e-6 * trace);
      const std::size_t to_i = (i + 1) % 3, to_j = (j + 1) % 3;
      EXPECT_NEAR(turned[i].v[j], sign[i] * sign[j] * k[to_i].v[to_j], 1e-6 * trace) << i << j;
      if (i != j) off_diagonal = std::max(off_diagonal, std::abs(k[i].v[j]));
    }
  EXPECT_GT(off_diagonal, 1e-3 * trace);  // else signs would not be seen
}

// Nothing leads across the plates of a slit: that axis has the permeability 0, and the others are solved.
TEST(Permeability, AnAxisAlongWhichNothingLeadsHasThePermeabilityZeroMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = slit(comm, {false, false, false});
  for (const FlowDrive drive : {FlowDrive::pressure_drop, FlowDrive::velocity}) {
    FlowOptions options = options_for(drive, {0, 2});
    options.pressure_drop = options.velocity = 2.0;
    EXPECT_EQ(mistakes(options, geometry), std::vector<std::string>{});
    std::vector<FlowColumn> columns =
        permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry));
    EXPECT_EQ(columns[1].iterations, 0);
    ASSERT_EQ(columns.size(), 2U);
    EXPECT_NEAR(columns[0].permeability[0], exact * h * h, 1e-7 * exact * h * h);
    const FlowColumn& blocked = columns[1];
    EXPECT_TRUE(columns[0].connected && !blocked.connected);
    EXPECT_EQ(blocked.axis, 2);
    EXPECT_EQ(blocked.permeability, Vec3{});
    EXPECT_EQ(blocked.darcy_velocity, Vec3{});
    EXPECT_TRUE(std::isnan(blocked.tortuosity));
    EXPECT_EQ(std::isnan(blocked.gradient), drive == FlowDrive::velocity);  // no pressure gives that velocity
    EXPECT_FALSE(std::abs(blocked.gradient / (2.0 / (12 * h)) - 1) > 1e-14);
    EXPECT_FALSE(drag_imbalance(blocked) > 0.0);  // nothing to compare
    EXPECT_EQ(blocked.estimated_error, 0.0);
    EXPECT_EQ(tensor(columns)[2][2], 0.0);
  }
}

// Nothing holds the fluid of a domain without walls: a velocity is that of all of it, through faces to the last bit; a
// pressure drop has no steady flow. Sides with friction hold it: a duct of n x n cells, k = 0.0351442533 n² h² (F. M.
// White, Viscous Fluid Flow, section 3-3.3).
TEST(Permeability, WithoutWallsTheFlowIsUniformMpi) {
  const Comm comm = Comm::world();
  const test::DistanceFunction nowhere([](const Vec3&) { return 100.0; });
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({16, 8, 8}, {false, true, false}), nowhere, KeepPores::all);
  FlowOptions options = options_for(FlowDrive::velocity, {0});
  options.velocity = -3e-4;
  FlowWatch watch;
  watch.keep_solution = true;
  const FlowColumn flow = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry), watch)[0];
  EXPECT_TRUE(flow.unbounded && std::isinf(flow.permeability[0]));
  EXPECT_EQ(flow.darcy_velocity, (Vec3{-3e-4, 0.0, 0.0}));
  EXPECT_EQ(flow.gradient, 0.0);
  EXPECT_EQ(flow.tortuosity, 1.0);
  const FaceField fluxes = flow_fluxes(test::composite_on(comm, geometry), options, water.viscosity, h, flow);
  for (int d = 0; d < 3; ++d)
    for (const double flux :
         std::span(fluxes.primary(0).data(d), static_cast<std::size_t>(fluxes.primary(0).n_slots())))
      EXPECT_TRUE(flux == 0.0 || (d == 0 && std::abs(flux - 1.0) < 1e-14)) << d << ' ' << flux;
  options.drive = FlowDrive::pressure_drop;
  const FlowColumn driven =
      permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry), watch)[0];
  EXPECT_TRUE(driven.unbounded && std::isinf(driven.permeability[0]) && std::isnan(driven.darcy_velocity[0]));
  EXPECT_EQ(driven.gradient, options.pressure_drop / (16 * h));
  EXPECT_TRUE(driven.solution.empty());
  options.sides = FlowWalls::no_slip;
  options.sides_given = true;
  const Geometry duct =
      build_geometry(comm, test::flow_grid({4, 16, 16}, {false, false, false}), nowhere, KeepPores::all);
  const FlowColumn held = permeability(test::ground_on(comm, duct), options, water, sample_of(duct))[0];
  EXPECT_FALSE(held.unbounded);
  EXPECT_NEAR(held.permeability[0] / (256 * h * h), 0.0351442533, 0.01 * 0.0351442533);
}

TEST(Permeability, MistakesAreFoundBeforeAnySolve) {
  const Comm comm = Comm::self();
  const Geometry geometry = slit(comm, {false, true, false});
  const auto first = [&](const FlowOptions& options) {
    const std::vector<std::string> found = mistakes(options, geometry);
    return found.empty() ? std::string() : found[0];
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_EQ(first(options_for(FlowDrive::pressure_drop, {0})), "");
  EXPECT_TRUE(has(first(options_for(FlowDrive::pressure_drop, {1})), "periodic along y"));
  EXPECT_TRUE(has(first(options_for(FlowDrive::pressure_gradient, {0})), "not periodic along x"));
  FlowOptions sides = options_for(FlowDrive::pressure_drop, {0});
  sides.sides = FlowWalls::periodic;
  EXPECT_TRUE(has(first(sides), "not periodic along z"));
  EXPECT_THROW(permeability(test::ground_on(comm, geometry), sides, water, sample_of(geometry)), Error);
}

// Cells half as wide at the wall: the same numbers as on one level, to the error of the coarse cells, all of them by
// volume; and the wall takes the drive.
TEST(Permeability, OfRefinedGridMpiAtNight) {
  const Comm comm = Comm::world();
  const auto solved = [&](bool refined) {
    const GridOptions plain = test::flow_grid(Index::all(32));
    const Geometry geometry = build_geometry(comm, refined ? test::refined_at_wall(plain, 1, 1) : plain,
                                             *test::one_sphere(0.125, 32), KeepPores::all);
    EXPECT_EQ(geometry.levels.size(), refined ? 2U : 1U);
    FlowWatch watch;
    watch.keep_solution = true;
    FlowColumn c = permeability(test::ground_on(comm, geometry), options_for(FlowDrive::pressure_gradient, {0}), water,
                                sample_of(geometry), watch)[0];
    EXPECT_EQ(std::ssize(c.solution), CompositeNumbering(comm, geometry).n_own());
    return c;
  };
  const FlowColumn one = solved(false), two = solved(true);
  EXPECT_NEAR(two.permeability[0] / one.permeability[0], 1.0, 0.002);
  EXPECT_NEAR(two.tortuosity / one.tortuosity, 1.0, 0.005);
  EXPECT_NEAR(two.pressure_drag + two.viscous_drag, 1.0, 0.01);
  double share = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < two.histogram.share.size(); ++i) {
    share += two.histogram.share[i];
    difference += std::abs(two.histogram.share[i] - one.histogram.share[i]);
  }
  EXPECT_NEAR(share, 1.0, 1e-12);
  EXPECT_LT(difference, 0.1);
  double lowest = 1e30, highest = -1e30;  // pressures of both levels are in the same unit
  for (const Quad& q : two.solution) {
    if (std::isnan(q.v[3])) continue;  // orphans have none
    lowest = std::min(lowest, q.v[3]);
    highest = std::max(highest, q.v[3]);
  }
  double other_lowest = 1e30, other_highest = -1e30;
  for (const Quad& q : one.solution) {
    if (std::isnan(q.v[3])) continue;
    other_lowest = std::min(other_lowest, q.v[3]);
    other_highest = std::max(other_highest, q.v[3]);
  }
  EXPECT_NEAR((comm.max(highest) - comm.min(lowest)) / (comm.max(other_highest) - comm.min(other_lowest)), 1.0, 0.1);
}

// Between pressures on two ends, one of them refined: parabolas and even falls are exact on any levels.
TEST(Permeability, RefinedSampleBetweenPressuresIsExactMpi) {
  const Comm comm = Comm::world();
  LevelSetParts plates;
  plates.push_back(make_level_set(HalfSpace{{0, 0, 2}, {0, 0, 1}}));
  plates.push_back(make_level_set(HalfSpace{{0, 0, 10}, {0, 0, -1}}));
  const Geometry geometry = build_geometry(
      comm, test::refined_in(test::flow_grid({8, 8, 12}, {false, true, false}), 1, {0, 0, 0}, {4, 8, 12}),
      *union_of_solids(std::move(plates)), KeepPores::all);
  EXPECT_EQ(geometry.levels.size(), 2U);
  FlowOptions options = options_for(FlowDrive::pressure_drop, {0});
  options.pressure_drop = 2.0;
  FlowWatch watch;
  watch.keep_solution = true;
  const FlowColumn c = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry), watch)[0];
  EXPECT_NEAR(c.permeability[0] / (exact * h * h), 1.0, 1e-6);
  EXPECT_NEAR(c.viscous_drag, 1.0, 1e-5);
  EXPECT_NEAR(c.pressure_drag, 0.0, 1e-5);
  double highest = 0.0, lowest = 1.0;
  for (const Quad& q : c.solution) {
    highest = std::max(highest, q.v[3]);
    lowest = std::min(lowest, q.v[3]);
  }
  EXPECT_NEAR(comm.max(highest), 2.0 * (1.0 - 0.25 / 8), 1e-6);  // half a fine cell from the end
  EXPECT_NEAR(comm.min(lowest), 2.0 * 0.5 / 8, 1e-6);            // half a coarse one from the other
}

// What carries no flow is counted, and has no pressure.
TEST(Permeability, PiecesWithoutFlowAreCountedMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(16)), *test::packing(40, 3.2, 16, true), KeepPores::connected);
  FlowWatch watch;
  watch.keep_solution = true;
  const FlowColumn c = permeability(test::ground_on(comm, geometry), options_for(FlowDrive::pressure_gradient, {0}),
                                    water, sample_of(geometry), watch)[0];
  std::int64_t without = 0;
  for (const Quad& q : c.solution) without += std::isnan(q.v[3]) ? 1 : 0;
  EXPECT_GT(c.counts.orphans, 0);
  EXPECT_EQ(comm.sum(without), c.counts.orphans);
  EXPECT_EQ(comm.sum(std::ssize(c.solution)), c.counts.orphans + c.counts.flow_cells);
  EXPECT_GT(c.counts.closed_area, 0.0);
  EXPECT_LT(c.counts.closed_area, 0.02 * c.counts.open_area);
}

// Free cells before and after the sample go with one level only.
TEST(Permeability, ReservoirsOnRefinedGridsAreRefused) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      build_geometry(comm, test::refined_at_wall(test::flow_grid(Index::all(16), {false, true, true}), 1, 2),
                     *make_level_set(Sphere{{8, 8, 8}, 2.0}), KeepPores::all);
  FlowOptions options = options_for(FlowDrive::pressure_drop, {0});
  options.reservoir = 2;
  const std::vector<std::string> found = mistakes(options, geometry);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("flow.reservoir"), std::string::npos) << found[0];
}

// A duct that is one cell long, along a periodic direction, is the same as one of eight cells.
TEST(Permeability, DuctsOfOneCellLeadThrough) {
  const Comm comm = Comm::self();
  const auto k = [&](int length) {
    const test::DistanceFunction phi([](const Vec3& x) { return 5.0 - std::hypot(x[1] - 8.1, x[2] - 7.8); });
    const Geometry geometry = build_geometry(comm, test::flow_grid({length, 16, 16}), phi, KeepPores::connected);
    EXPECT_TRUE(geometry.report.percolates[0]);
    return permeability(test::ground_on(comm, geometry), options_for(FlowDrive::pressure_gradient, {0}), water,
                        sample_of(geometry))[0]
        .permeability[0];
  };
  EXPECT_NEAR(k(1) / k(8), 1.0, 1e-7);
}

/// What the error says.
std::string reason(const Geometry& geometry, const FlowOptions& options) {
  try {
    permeability(test::ground_on(Comm::self(), geometry), options, water, sample_of(geometry));
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// A slit thinner than a cell holds no cell centre and leads nowhere for these cells. A grain smaller than a cell, met
// by no grid line, holds no fluid: neither the drive nor the solver is to blame.
TEST(Permeability, TellsWhyNothingFlowsOrHolds) {
  const Comm comm = Comm::self();
  const test::DistanceFunction slit_of_a_third([](const Vec3& x) { return 0.16 - std::abs(x[0] - 4.0); });
  const FlowOptions options = options_for(FlowDrive::pressure_gradient, {1});
  const Geometry thin = build_geometry(comm, test::flow_grid({8, 8, 8}), slit_of_a_third, KeepPores::all);
  EXPECT_EQ(reason(thin, options), "");
  EXPECT_FALSE(permeability(test::ground_on(comm, thin), options, water, sample_of(thin))[0].connected);
  const test::DistanceFunction speck([](const Vec3& x) { return norm(x - Vec3::all(4.0)) - 0.3; });
  const Geometry open = build_geometry(comm, test::flow_grid({8, 8, 8}), speck, KeepPores::all);
  EXPECT_NE(reason(open, options).find("so there is no friction"), std::string::npos);
}

// A duct of one cell, and a grain over the centre of a cell: its fluid joins a neighbour and carries flow through the
// end of the sample as it does inside. Before, the end let nothing pass but what a solve leaves (4e-6 of this). The
// ends are mirror images; inside, the grain stands against the flow from both sides.
TEST(Permeability, AGrainOverTheCentreOfTheLastCellLetsFlowPassMpi) {
  const Comm comm = Comm::world();
  const auto along = [&](double x) {
    const test::DistanceFunction walls([x](const Vec3& at) {
      const double duct = 0.5 - std::max(std::abs(at[1] - 1.5), std::abs(at[2] - 1.5));
      return std::min(duct, norm(at - Vec3{x, 1.55, 1.47}) - 0.2);
    });
    const Geometry geometry =
        build_geometry(comm, test::flow_grid({8, 3, 3}, {false, false, false}), walls, KeepPores::connected);
    FlowOptions options = options_for(FlowDrive::pressure_drop, {0});
    const FlowColumn column = permeability(test::ground_on(comm, geometry), options, water, sample_of(geometry))[0];
    EXPECT_TRUE(column.connected);
    EXPECT_LT(column.divergence, 1e-6) << x;
    return column.permeability[0];
  };
  const double inside = along(3.5), last = along(7.5), first = along(0.5);
  EXPECT_NEAR(first / last, 1.0, 1e-6);
  EXPECT_GT(last, inside);
  EXPECT_LT(last, 3.0 * inside);
}

// Touching spheres of 4 cells in radius: drag and drive are far apart, and a fine grid brings them together.
TEST(Permeability, DragTellsOfCoarseCells) {
  const auto imbalance = [](int n) {
    const Geometry geometry = test::sphere_array(Comm::self(), 0.5236, n);
    return drag_imbalance(permeability(test::ground_on(Comm::self(), geometry),
                                       options_for(FlowDrive::pressure_gradient, {0}), water, sample_of(geometry))[0]);
  };
  const double coarse = imbalance(8), fine = imbalance(24);
  EXPECT_GT(coarse, 0.1);
  EXPECT_LT(fine, 0.05);
}

}  // namespace
}  // namespace karst::permeability_test
