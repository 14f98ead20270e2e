// SPDX-License-Identifier: BSD-3-Clause
// Flow with inertia through a sample between reservoirs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "eb/shapes/reservoir_level_set.hpp"
#include "ins/upscale/permeability.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::sample_inertia_test {
namespace {

/// Columns along x in units of h, μ and ρ: of a sample with reservoirs; without any: of a periodic one.
struct Case {
  Index cells;  ///< of the sample
  std::function<std::unique_ptr<LevelSet>()> solid;
  FlowWalls sides = FlowWalls::symmetry;
  std::array<bool, 3> periodic{false, true, true};
  int box = 8;
  bool open = false;  ///< the outer faces of the reservoirs are those of the domain, with pressures

  /// @param gradients  of the sample, increasing; the sign of the first is that of all
  FlowColumn operator()(const Comm& comm, int reservoir, std::vector<double> gradients,
                        const FlowWatch& watch = {}) const {
    std::array<bool, 3> joined = periodic;
    joined[0] = !open;
    const Geometry geometry = test::between(comm, cells, solid(), reservoir, joined, box);
    FlowOptions options;
    options.model = FlowModel::steady;
    options.drive = reservoir > 0 ? FlowDrive::pressure_drop : FlowDrive::pressure_gradient;
    options.pressure_drop = gradients[0] * cells[0];
    options.gradient = Vec3::all(gradients[0]);
    options.steps.clear();
    for (const double g : gradients) options.steps.push_back(g / gradients[0]);
    options.axes = {0};
    options.tolerance = 1e-9;
    options.sides = sides;
    options.reservoir = reservoir;
    return permeability(test::ground_on(comm, geometry), options, {1.0, 1.0}, {1.0, 0.5, 1.0}, watch)[0];
  }
};

/// Simple cubic spheres of solid fraction 0.343, 12 cells apart, `n` of them in a row.
Case spheres(int n) {
  return {{12 * n, 12, 12}, [n] {
            std::vector<Sphere> row;
            for (int i = 0; i < n; ++i)
              row.push_back({{12.0 * i + 6.137, 5.789, 6.313}, 12 * std::cbrt(0.75 * 0.343 / std::numbers::pi)});
            return make_sphere_list(row, {Vec3{12.0 * n, 12.0, 12.0}, {false, true, true}});
          }};
}

Case packing(FlowWalls sides = FlowWalls::symmetry) {
  return {Index::all(16), [] { return test::packing(12, 3.2, 16, true); }, sides, {false, false, true}};
}

// What a sample of n periods loses beyond n periods of an endless one is lost at its two ends, so n (1/k - 1/k_∞) does
// not depend on n: for Stokes flow, and for flow with inertia at one velocity.
TEST(SampleInertia, RowsOfPeriodsLoseTheSameAtTheirEndsAtNight) {
  const Comm comm = Comm::self();
  const std::vector<double> gradients{0.1, 0.6};
  const auto resistance = [&](const FlowColumn& c, std::size_t i) {
    return i == 0 ? 1.0 / c.permeability[0] : 1.0 / c.inertia[i - 1].permeability;
  };
  const FlowColumn endless = spheres(1)(comm, 0, gradients);
  EXPECT_LT(endless.inertia[1].permeability, 0.99 * endless.permeability[0]);
  std::array<double, 3> first{};
  for (const int n : {1, 2, 4}) {
    const FlowColumn row = spheres(n)(comm, 12, gradients);
    double before = row.permeability[0];
    for (std::size_t i = 0; i < 3; ++i) {
      const double lost = n * (resistance(row, i) / resistance(endless, i) - 1.0);
      if (n == 1) first[i] = lost;
      EXPECT_GT(lost, 0.0);
      EXPECT_NEAR(lost, first[i], i < 2 ? 0.02 * first[i] : 0.2 * first[i]) << n << ' ' << i;
      if (i == 0) continue;
      EXPECT_LT(row.inertia[i - 1].permeability, before);
      before = row.inertia[i - 1].permeability;
    }
  }
}

// At first inertia does not see the direction of the flow (Mei & Auriault, J. Fluid Mech. 222 (1991) 647): what comes
// to a sample leaves it with the same momentum and energy. Between ends with pressures the loss is in proportion to Re.
TEST(SampleInertia, WeakInertiaIsQuadratic) {
  const Comm comm = Comm::self();
  const FlowColumn with = packing()(comm, 8, {0.1, 0.2}), against = packing()(comm, 8, {-0.1, -0.2});
  const auto loss = [](const FlowColumn& c, std::size_t i) {
    return 1.0 - c.inertia[i].permeability / c.permeability[0];
  };
  EXPECT_GT(loss(with, 0), 1e-4);
  EXPECT_NEAR(loss(with, 1) / loss(with, 0), 4.0, 0.3);
  EXPECT_NEAR(loss(against, 1) / loss(with, 1), 1.0, 0.15);
  EXPECT_LT(against.inertia[1].darcy_velocity[0], 0.0);
  EXPECT_NEAR(against.inertia[1].gradient, -0.2, 1e-12);
}

// Force on the solid and on the sides is the pressure drop of the sample, whatever the Reynolds number: what the grid
// leaves of the balance does not grow with it.
TEST(SampleInertia, DropIsTheForceOnTheSampleAloneByDay) {
  const Comm comm = Comm::world();
  for (const FlowWalls sides : {FlowWalls::symmetry, FlowWalls::no_slip}) {
    const auto missing = [](const FlowColumn& c) { return 1.0 - c.pressure_drag - c.viscous_drag - c.side_drag; };
    const FlowColumn slow = packing(sides)(comm, 8, {1e-6}), fast = packing(sides)(comm, 8, {0.2, 1.0});
    EXPECT_LT(fast.inertia[1].permeability, 0.95 * fast.permeability[0]);
    EXPECT_NEAR(missing(slow), 0.0, 0.06);
    EXPECT_NEAR(missing(fast), missing(slow), 0.01);
  }
}

// Flow between plates knows no inertia, and its reservoirs, whose friction grows with the drive, are not the sample's.
TEST(SampleInertia, OpenChannelKnowsNoInertia) {
  const Comm comm = Comm::self();
  const Case channel{{8, 8, 6},
                     [] {
                       return make_level_set(HalfSpace{{0, 0, -100}, {0, 0, 1}});
                     },
                     FlowWalls::no_slip,
                     {false, true, false}};
  const FlowColumn column = channel(comm, 3, {1.0, 30.0});
  for (const InertiaPoint& p : column.inertia) EXPECT_NEAR(p.permeability, 3.0, 1e-6);
  EXPECT_NEAR(column.inertia[1].gradient, 30.0, 1e-4);
  EXPECT_NEAR(column.inertia[1].grid_gradient, 30.0, 1e-4);
  EXPECT_NEAR(column.inertia[1].unevenness, 0.16814, 1e-4);  // of a parabola at six cell centres; 0.2 in the limit
}

// The wanted drop is that of the sample. Between sides with friction the drop of the grid is larger, and found.
TEST(SampleInertia, DropIsMetBetweenNoSlipSidesAtNight) {
  const FlowColumn column = packing(FlowWalls::no_slip)(Comm::self(), 8, {0.3, 0.9});
  EXPECT_NEAR(column.inertia[0].gradient, 0.3, 3e-7);
  EXPECT_NEAR(column.inertia[1].gradient, 0.9, 9e-7);
  // Half of the grid is reservoir: half of the gradient without friction there.
  for (const InertiaPoint& p : column.inertia) EXPECT_GT(p.grid_gradient, 0.505 * p.gradient);
  EXPECT_GT(column.inertia[1].unevenness, 0.0);
  EXPECT_EQ(column.gradient, column.inertia[1].gradient);
}

// The pressure that is kept falls by the drop of the sample from one end of the grid to the other, where it is 0.
TEST(SampleInertia, PressureFallsOverTheSample) {
  FlowWatch watch;
  watch.keep_solution = true;
  for (const double sign : {1.0, -1.0}) {
    const FlowColumn column = spheres(1)(Comm::self(), 8, {sign * 1e-3}, watch);
    const double drop = 12e-3;
    double sum = 0.0, n = 0.0, lowest = 1e300, highest = -1e300;
    for (const Quad& q : column.solution) {
      if (std::isnan(q.v[3])) continue;  // a cell without flow
      n += 1.0;
      sum += sign * q.v[3];
      lowest = std::min(lowest, sign * q.v[3]);
      highest = std::max(highest, sign * q.v[3]);
    }
    EXPECT_NEAR(sum / n, 0.5 * drop, 0.02 * drop);
    EXPECT_NEAR(lowest, 0.0, 0.2 * drop);
    EXPECT_NEAR(highest, drop, 0.2 * drop);
  }
}

// Between pressures on the outer faces of the reservoirs the drop of the sample is that of the momentum balance, too.
TEST(SampleInertia, OpenReservoirsAreAsARow) {
  const Comm comm = Comm::self();
  Case channel{{8, 8, 6},
               [] {
                 return make_level_set(HalfSpace{{0, 0, -100}, {0, 0, 1}});
               },
               FlowWalls::no_slip,
               {false, true, false}};
  channel.open = true;
  for (const InertiaPoint& p : channel(comm, 3, {1.0, 30.0}).inertia) EXPECT_NEAR(p.permeability, 3.0, 1e-6);
  Case one = packing(FlowWalls::no_slip);
  const FlowColumn row = one(comm, 8, {-0.5});
  one.open = true;
  const FlowColumn open = one(comm, 8, {-0.5});
  EXPECT_FALSE(open.periodic);
  EXPECT_NEAR(open.permeability[0] / row.permeability[0], 1.0, 1e-3);
  EXPECT_LT(row.inertia[0].permeability, 0.98 * row.permeability[0]);
  EXPECT_NEAR(open.inertia[0].permeability / row.inertia[0].permeability, 1.0, 2e-3);
  EXPECT_NEAR(open.inertia[0].gradient, -0.5, 1e-6);
}

TEST(SampleInertia, SameForBoxesAndRanksMpi) {
  Case large = packing(FlowWalls::no_slip);
  large.box = 32;
  const FlowColumn alone = large(Comm::self(), 6, {0.5}), shared = packing(FlowWalls::no_slip)(Comm::world(), 6, {0.5});
  EXPECT_NEAR(shared.inertia[0].permeability / alone.inertia[0].permeability, 1.0, 1e-6);
  EXPECT_NEAR(shared.inertia[0].unevenness, alone.inertia[0].unevenness, 1e-5);
}

}  // namespace
}  // namespace karst::sample_inertia_test
