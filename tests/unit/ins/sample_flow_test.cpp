// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/sample_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "eb/shapes/reservoir_level_set.hpp"
#include "ins/upscale/permeability.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::sample_flow_test {
namespace {

/// Permeability along x in h² of a sample with reservoirs; without any: the sample as it is.
struct Case {
  Index cells;  ///< of the sample
  std::function<std::unique_ptr<LevelSet>()> solid;
  FlowWalls sides = FlowWalls::symmetry;
  std::array<bool, 3> periodic{false, true, false};

  FlowColumn operator()(const Comm& comm, int reservoir, int box = 8, const FlowWatch& watch = {}) const {
    std::array<bool, 3> joined = periodic;
    joined[0] = reservoir > 0;
    const Geometry geometry = test::between(comm, cells, solid(), reservoir, joined, box);
    FlowOptions options;
    options.model = FlowModel::stokes;
    options.drive = FlowDrive::pressure_drop;
    options.axes = {0};
    options.tolerance = 1e-10;
    options.sides = sides;
    options.reservoir = reservoir;
    return permeability(test::ground_on(comm, geometry), options, {}, {1.0, 0.5, 1.0}, watch)[0];
  }
};

std::unique_ptr<LevelSet> no_solid() { return make_level_set(HalfSpace{{0, 0, -100}, {0, 0, 1}}); }

/// Plates across z, 4 cells apart in 8.
std::unique_ptr<LevelSet> plates() {
  LevelSetParts parts;
  parts.push_back(make_level_set(HalfSpace{{0, 0, 2}, {0, 0, 1}}));
  parts.push_back(make_level_set(HalfSpace{{0, 0, 6}, {0, 0, -1}}));
  return union_of_solids(std::move(parts));
}

// A channel without an obstacle between walls: what its reservoirs lose on the walls is not the sample's, so the
// permeability is H² / 12 with them, too (exact for second differences).
TEST(SampleFlow, OpenChannelHasThePermeabilityOfAChannelMpi) {
  const Case channel{{8, 8, 6}, no_solid, FlowWalls::no_slip};
  const Comm comm = Comm::world();
  const double without = channel(comm, 0).permeability[0];
  for (const int reservoir : {1, 2, 5}) {
    const FlowColumn column = channel(comm, reservoir);
    EXPECT_NEAR(column.permeability[0], without, 1e-7 * without) << reservoir;
    EXPECT_NEAR(column.gradient, 1.0 / 8, 1e-12);  // 1 Pa over the sample
    EXPECT_NEAR(column.tortuosity, 1.0, 1e-7);
  }
}

// The flow gathers into the slit and spreads behind it: a resistance c beside the length of the sample, L / k = L / k_0
// + c, whatever L. For a slit of half the height c is known to be about that of a slit in a plate plus little: 0 < c.
TEST(SampleFlow, EntranceLossVanishesForLongSamples) {
  const Comm comm = Comm::self();
  const double whole = Case{{8, 8, 8}, plates}(comm, 0).permeability[0];
  EXPECT_NEAR(whole, 64.0 / 12 / 8, 1e-6 * whole);
  std::vector<double> loss;
  for (const int length : {8, 16, 32}) {
    const double k = Case{{length, 8, 8}, plates}(comm, 8).permeability[0];
    EXPECT_LT(k, whole);
    loss.push_back(length * (whole / k - 1.0));
  }
  EXPECT_GT(loss[0], 0.5);
  EXPECT_NEAR(loss[1], loss[0], 0.02 * loss[0]);
  EXPECT_NEAR(loss[2], loss[1], 0.001 * loss[1]);
  // Beyond half the height of the sample a longer reservoir changes nothing.
  const double k = Case{{16, 8, 8}, plates}(comm, 16).permeability[0];
  EXPECT_NEAR(16 * (whole / k - 1.0), loss[1], 1e-3 * loss[1]);
}

// Speeds and fields belong to the pressure that falls over the sample alone, all of them.
TEST(SampleFlow, FieldsBelongToTheFallOverTheSampleMpi) {
  const Comm comm = Comm::world();
  FlowWatch watch;
  watch.keep_solution = true;
  const FlowColumn column = Case{{8, 8, 8}, plates}(comm, 4, 8, watch);
  double fastest = 0.0;
  for (const Quad& q : column.solution) fastest = std::max(fastest, norm(Vec3{q.v[0], q.v[1], q.v[2]}));
  EXPECT_NEAR(comm.max(fastest) / column.largest_speed, 1.0, 1e-12);
  // The parabola between the plates, 4 cells apart: U = 2/3 of the largest speed there, over half of the height.
  EXPECT_GT(column.largest_speed / column.darcy_velocity[0], 2.0);
  EXPECT_LT(column.largest_speed / column.darcy_velocity[0], 3.2);
}

// Free fluid between planes of symmetry costs no pressure, so the permeability so far becomes that of the sample, up to
// how exactly the pressure on its faces is known.
TEST(SampleFlow, PermeabilityOnTheWayIsThatOfTheSample) {
  double on_the_way = 0.0;
  FlowWatch watch;
  watch.iteration = [&](const std::string&, int, double, double k) { on_the_way = k; };
  const FlowColumn column = Case{{8, 8, 8}, plates}(Comm::self(), 8, 8, watch);
  EXPECT_NEAR(on_the_way / column.permeability[0], 1.0, 0.02);
}

TEST(SampleFlow, SameForBoxesAndRanksMpiAtNight) {
  const Case rock{
      {16, 16, 16}, [] { return test::packing(12, 3.2, 16, true); }, FlowWalls::no_slip, {false, false, true}};
  const FlowColumn alone = rock(Comm::self(), 6);
  for (const int box : {8, 16, 32}) {
    const FlowColumn column = rock(Comm::world(), 6, box);
    for (int e = 0; e < 3; ++e)
      EXPECT_NEAR(column.permeability[e], alone.permeability[e], 1e-7 * alone.permeability[0]) << box << ' ' << e;
    EXPECT_NEAR(column.tortuosity, alone.tortuosity, 1e-6);
    EXPECT_NEAR(column.histogram.share[30], alone.histogram.share[30], 1e-3);
  }
}

// The sum over faces is the mean velocity that the operator counts, when the sample is all there is.
TEST(SampleFlow, SidewaysVelocityIsThatOfTheOperatorMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(16), {false, true, false}),
                                           *test::packing(12, 3.2, 16, true), KeepPores::connected);
  FlowSides sides;
  sides.fill(FlowSide::symmetry);
  sides[0] = sides[1] = FlowSide::pressure;
  StokesSolver solver(test::composite_on(comm, geometry), sides, {});
  StokesDrive drive;
  drive.at_end[0] = 16.0;
  const StokesReport report = solver.solve(drive);
  const SampleFlow flow = sample_flow(solver, {0, 0, 16}, drive, report.velocity);
  for (int e = 0; e < 3; ++e) EXPECT_NEAR(flow.velocity[e], report.velocity[e], 1e-12) << e;
  EXPECT_GT(std::abs(flow.velocity[1]), 1e-4);
  EXPECT_NEAR(flow.tortuosity, report.tortuosity, 1e-9);
  // Parts of the sample, each by its own length, sum to the whole.
  Vec3 sum;
  for (const auto& [low, high] : {std::pair{0, 4}, {4, 12}, {12, 16}})
    sum += ((high - low) / 16.0) * sample_flow(solver, {0, low, high}, drive, report.velocity).velocity;
  for (int e = 0; e < 3; ++e) EXPECT_NEAR(sum[e], report.velocity[e], 1e-12) << e;
}

// Volumes between planes are exact. Those of spheres change by what their facets are off, at the cut ends.
TEST(SampleFlow, ReservoirsAreFreeFluid) {
  const Comm comm = Comm::self();
  const auto porosity = [&](const std::function<std::unique_ptr<LevelSet>()>& solid, int before) {
    std::unique_ptr<LevelSet> rock = solid();
    Index n = Index::all(16);
    if (before > 0) rock = between_reservoirs(std::move(rock), 2, before, 16);
    n[2] += 2 * before;
    return build_geometry(comm, test::flow_grid(n, {true, true, false}), *rock, KeepPores::all).report.porosity;
  };
  const auto inclined = [] { return make_level_set(HalfSpace{{8.2, 8.1, 8.3}, {0.48, 0.6, 0.64}}); };
  EXPECT_NEAR(porosity(inclined, 5), (10 + 16 * porosity(inclined, 0)) / 26, 1e-8);
  const auto spheres = [] { return test::packing(12, 3.2, 16, true); };
  EXPECT_NEAR(porosity(spheres, 5), (10 + 16 * porosity(spheres, 0)) / 26, 2e-4);
}

}  // namespace
}  // namespace karst::sample_flow_test
