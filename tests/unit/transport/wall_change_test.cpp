// SPDX-License-Identifier: BSD-3-Clause
// Values of volumes where walls have moved.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "support/errors.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/moving_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/regrid/moved_state.hpp"
#include "transport/regrid/values_on_other_walls.hpp"

namespace karst::wall_change_test {
namespace {

using test::at_centroids;
using test::grid_of;
using test::MovingWall;
using test::random_speed;
using test::range_of;
using Values = std::vector<double>;

const VolumeOptions with_pieces{ControlVolumes::home_cells, true};

double smooth(const Vec3& x) { return 1.5 + std::sin(0.7 * x[0]) * std::cos(0.5 * x[1]) + 0.3 * std::sin(0.9 * x[2]); }
double jump(const Vec3& x) { return x[0] < 11.0 ? 1.0 : 0.0; }

std::shared_ptr<const Composite> on(const Comm& comm, Geometry geometry) {
  return std::make_shared<const Composite>(comm, std::make_shared<const Geometry>(std::move(geometry)));
}
std::shared_ptr<const Composite> in_plate(const Comm& comm, const Vec3& at, const Vec3& normal) {
  return on(comm, build_geometry(comm, grid_of(16, 1), *test::plate(at, normal, 0.6), KeepPores::all, with_pieces));
}

/// A packing whose walls move, on one level or with a refined region.
struct MovingPacking {
  MovingPacking(const Comm& of, int seed, bool refined = false)
      : comm(of),
        wall(of, refined ? test::refined_in(cells, 1, Vec3::all(6.0), {15.0, 13.0, 14.0}) : cells,
             test::packing(25, 2.9, 24, true, seed)) {}
  std::shared_ptr<const Composite> now() const { return on(comm, wall.with_pieces()); }
  std::shared_ptr<const Composite> then(int seed, double most) {
    wall.move(random_speed(seed, most), wall.time + 1.0);
    return now();
  }
  GridOptions cells = test::unit_cells(Index::all(24), {true, true, true}, 8);
  Comm comm;
  MovingWall wall;
};

class WallChangeOf : public ::testing::Test {
 protected:
  /// Contents, amounts and bounds of one change.
  void expect_balances(WallChange& change) {
    const double volume = content_of(change.from, Values(change.from.n_own, 1.0)),
                 volume_then = content_of(change.to, Values(change.to.n_own, 1.0));
    const WallChange::Volumes& v = change.volumes;
    EXPECT_NEAR(volume_then - volume, v.opened - v.closed + v.entered - v.cut_off, 1e-13 * volume);
    for (const auto& f : {smooth, jump}) {
      const Values was = at_centroids(change.from, f);
      WallBalance b;
      const Values is = contents_on_other_walls(change, was, {}, 1.0, b);
      EXPECT_LT(std::abs(b.residual()), 1e-13 * b.before);
      EXPECT_GT(b.opened + b.closed, 1e-3 * b.before);
      const auto [low, high] = range_of(comm_, was);
      const auto [new_low, new_high] = range_of(comm_, is);
      EXPECT_GE(new_low, low - 1e-15);
      EXPECT_LE(new_high, high + 1e-15);
      Values far = was;
      for (double& x : far) x += 1000.0;
      const Values moved = contents_on_other_walls(change, far, {}, 1001.0, b);
      for (std::size_t i = 0; i < is.size(); ++i) ASSERT_NEAR(moved[i] - 1000.0, is[i], 1e-11);
      amounts_on_other_walls(change, was, 1.0, b);
      EXPECT_LT(std::abs(b.residual()), 1e-13 * b.before);
      EXPECT_EQ(b.swept(), 0.0);
    }
    WallBalance b;
    const Values threes(change.from.n_own, 3.0);
    EXPECT_EQ(range_of(comm_, contents_on_other_walls(change, threes, {}, 3.0, b)), std::pair(3.0, 3.0));
    EXPECT_NEAR(b.swept(), 3.0 * (v.opened - v.closed), 1e-12 * volume);
    EXPECT_EQ(range_of(comm_, points_on_other_walls(change, threes, 3.0)), std::pair(3.0, 3.0));
  }
  Comm comm_ = Comm::world();
};

// The same walls again: every bit of contents and point values.
TEST_F(WallChangeOf, NothingIsTheIdentityMpi) {
  for (const bool refined : {false, true}) {
    MovingPacking packing(comm_, 3, refined);
    WallChange change = compare_walls(packing.now(), packing.now());
    EXPECT_EQ(change.events, VolumeEvents{});
    const Values values = at_centroids(change.from, smooth);
    WallBalance b;
    EXPECT_EQ(contents_on_other_walls(change, values, {}, 0.0, b), values);
    EXPECT_EQ(b.opened + b.closed + b.entered + b.cut_off, 0.0);
    EXPECT_EQ(points_on_other_walls(change, values, 0.0), values);
    const Values amounts = amounts_on_other_walls(change, values, 0.0, b);
    for (std::size_t v = 0; v < values.size(); ++v) EXPECT_NEAR(amounts[v], values[v], 1e-14 * values[v]);
    EXPECT_LT(change.bytes(), 50 * change.from.n_own);
  }
}

class WallChangeOfPackings : public WallChangeOf, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, WallChangeOfPackings, ::testing::Values(2));
INSTANTIATE_TEST_SUITE_P(SeedsAtNight, WallChangeOfPackings, ::testing::Values(1, 3, 4));

// Contents are those of before and of what opened and closed; amounts are kept; bounds and constants, too. Walls
// dissolve, grow and do both, by less than a cell and by two.
TEST_P(WallChangeOfPackings, ContentsBoundsAndConstantsRanksMpi) {
  for (const bool refined : {false, true})
    for (const double most : {0.1, 0.8, 2.0}) {
      MovingPacking packing(comm_, GetParam(), refined);
      const auto before = packing.now();
      WallChange change = compare_walls(before, packing.then(GetParam() + 1, most));
      expect_balances(change);
    }
}

/// On one rank: old volumes whose fluid is in one new volume that has no other.
std::vector<std::int32_t> alone_in_one(const WallChange& change) {
  std::vector<std::int32_t> sharers(change.from.n_own, 0), volumes;
  for (const WallChange::Part& p : change.parts)
    if (p.source >= 0) ++sharers[p.source];
  for (const std::int32_t v : change.same)
    if (v >= 0) volumes.push_back(v);
  for (std::size_t i = 0; i < change.listed.size(); ++i)
    if (change.part_begin[i + 1] - change.part_begin[i] == 1)
      if (const std::int32_t v = change.parts[change.part_begin[i]].source; v >= 0 && sharers[v] == 1)
        volumes.push_back(v);
  std::ranges::sort(volumes);
  return volumes;
}

// A wall that moves and comes back leaves all that were not merged as they were, to the last bit; over all of them Σ is
// that of before and of what opened and closed on both ways.
TEST_P(WallChangeOfPackings, ThereAndBack) {
  for (const double most : {0.1, 0.8}) {
    MovingPacking packing(comm_, GetParam());
    const auto here = packing.now(), there = packing.then(GetParam() + 1, most);
    WallChange go = compare_walls(here, there), come = compare_walls(there, here);
    EXPECT_EQ(come.events, (VolumeEvents{go.events.gone, go.events.born, go.events.split, go.events.joined}));
    EXPECT_NEAR(come.volumes.opened, go.volumes.closed, 1e-11);
    EXPECT_NEAR(come.volumes.closed, go.volumes.opened, 1e-11);
    const Values was = at_centroids(go.from, smooth);
    WallBalance out, home;
    const Values is = contents_on_other_walls(come, contents_on_other_walls(go, was, {}, 0.0, out), {}, 0.0, home);
    EXPECT_NEAR(home.after, out.before + out.swept() + home.swept(), 1e-13 * out.before);
    const std::vector<std::int32_t> same = alone_in_one(go);
    for (const std::int32_t v : same) EXPECT_EQ(is[v], was[v]);
    EXPECT_GT(std::ssize(same), (most < 0.5 ? 8 : 3) * std::ssize(was) / 10);
    double worst = 0.0;  // the others are mixed with neighbours
    for (std::size_t v = 0; v < was.size(); ++v) worst = std::max(worst, std::abs(is[v] - was[v]));
    EXPECT_LT(worst, 1.5);  // |grad| < 1.1, within cells and their neighbours
  }
}

// Twenty steps in which walls dissolve and grow: the balance of each, and of all.
TEST_F(WallChangeOf, ManyStepsMpi) {
  MovingPacking packing(comm_, 5);
  auto here = packing.now();
  Values values = at_centroids(*scalar_grid_of(here, {}), smooth), threes(values.size(), 3.0);
  double expected = 0.0, content = 0.0;
  for (int step = 0; step < 20; ++step) {
    const auto next = packing.then(step, 0.4);
    WallChange change = compare_walls(here, next);
    WallBalance b;
    values = contents_on_other_walls(change, values, {}, 0.0, b);
    if (step == 0) expected = b.before;
    EXPECT_LT(std::abs(b.residual()), 1e-12 * b.before);
    expected += b.swept();
    content = b.after;
    threes = contents_on_other_walls(change, threes, {}, 3.0, b);
    here = next;
  }
  EXPECT_NEAR(content, expected, 1e-12 * expected);
  EXPECT_EQ(range_of(comm_, threes), std::pair(3.0, 3.0));
}

// A plane recedes by three cells: the layers that open have the water beside them, row by row.
TEST_F(WallChangeOf, WaterOfTheWallFillsWhatOpensMpi) {
  const auto fluid_above = [&](double x) {
    return on(comm_, build_geometry(comm_, grid_of(16, 1), *make_level_set(HalfSpace{{x, 0.0, 0.0}, {1.0, 0.0, 0.0}}),
                                    KeepPores::all, with_pieces));
  };
  WallChange change = compare_walls(fluid_above(9.2), fluid_above(6.4));
  const auto rows = [](const Vec3& x) { return std::sin(x[1]) + 3.0 * x[2]; };
  WallBalance b;
  const Values is = contents_on_other_walls(change, at_centroids(change.from, rows), {}, 0.0, b);
  // Layers that are born have neighbours with values in their own row alone: the others are born with them.
  for (std::int32_t v = 0; v < change.to.n_own; ++v) EXPECT_NEAR(is[v], rows(change.to.centroid[v]), 1e-14);
  EXPECT_EQ(change.events, (VolumeEvents{768, 0, 0, 0}));
  EXPECT_NEAR(change.volumes.opened, 256 * 2.8, 1e-10);
}

// Where the concentration at the wall is known all that opens has it: beside its own fluid, in a cell that was solid
// and joins that fluid (8.7), and in layers that are born (6.4).
TEST_F(WallChangeOf, WhatOpensHasTheConcentrationAtTheWallMpi) {
  const auto fluid_above = [&](double x) {
    return on(comm_, build_geometry(comm_, grid_of(16, 1), *make_level_set(HalfSpace{{x, 0.0, 0.0}, {1.0, 0.0, 0.0}}),
                                    KeepPores::all, with_pieces));
  };
  for (const double to : {8.7, 6.4}) {
    WallChange change = compare_walls(fluid_above(9.2), fluid_above(to));
    const ScalarGrid &from = change.from, &then = change.to;
    const auto row = [](const Vec3& x) { return 0.1 * x[1] + 0.02 * x[2]; };
    Values at_wall(from.n_own, 5.0);
    for (std::int32_t v = 0; v < from.n_own; ++v)
      if (from.centroid[v][0] < 10.0) at_wall[v] = row(from.centroid[v]);
    WallBalance b;
    const Values is = contents_on_other_walls(change, Values(from.n_own, 5.0), at_wall, 0.0, b);
    const double width = 9.2 - to;
    EXPECT_NEAR(b.opened, width * (256 * 8 * 0.12), 1e-11 * 256) << to;
    EXPECT_NEAR(b.residual(), 0.0, 1e-12 * b.before) << to;
    for (std::int32_t v = 0; v < then.n_own; ++v) {
      const Vec3& x = then.centroid[v];
      const double was = x[0] > 10.0 ? 1.0 : x[0] > 9.0 ? 0.8 : 0.0;  // of its fluid
      EXPECT_NEAR(is[v], row(x) + was / then.volume[v] * (5.0 - row(x)), 1e-12) << to << ' ' << x[0];
    }
  }
}

// A wall recedes by half a cell before a linear profile that is 0 where the wall ought to be, in the middle of its way.
// The sum is exact, and volumes whose fluid parts keep the profile, so that nothing is moved towards the wall: per area
// and motion Σ V error x distance was -0.051 at 17° and -0.033 at 45°, errors up to 0.24 and 0.16.
TEST_F(WallChangeOf, LinearProfilesBesideWallsThatRecede) {
  for (const auto& [tangent, most_moved, most] : {std::tuple(std::tan(0.2967), 1e-3, 0.02), {1.0, 5e-3, 0.04}}) {
    const Vec3 normal = (1.0 / std::hypot(1.0, tangent)) * Vec3{1.0, tangent, 0.0};
    double content = 0.0, moved = 0.0, worst = 0.0, area = 0.0;
    for (const double at : {0.0, 0.3, 0.6}) {
      const Vec3 middle = Vec3::all(15.3) + at * normal;
      const auto fluid = [&](double ahead) {
        return on(comm_, build_geometry(comm_, test::unit_cells({32, 32, 8}, {false, false, true}, 8),
                                        *make_level_set(HalfSpace{middle + ahead * normal, normal}), KeepPores::all,
                                        with_pieces));
      };
      const auto profile = [&](const Vec3& x) { return dot(x - middle, normal); };
      WallChange change = compare_walls(fluid(0.25), fluid(-0.25));
      Values was = at_centroids(change.from, profile), at_wall = was;
      for (const WallChange::Old& o : change.old) at_wall[o.volume] = 0.0;
      WallBalance b;
      const Values is = contents_on_other_walls(change, was, at_wall, 0.0, b);
      EXPECT_LT(std::abs(b.residual()), 1e-13 * b.before);
      for (std::int32_t v = 0; v < change.to.n_own; ++v) {
        const Vec3& x = change.to.centroid[v];
        const double along = (x[1] - middle[1]) * normal[0] - (x[0] - middle[0]) * normal[1];
        if (std::abs(along) > 10.0) continue;  // the wall ends at the sides of the domain
        const double error = is[v] - profile(x);
        content += change.to.volume[v] * error;
        moved += change.to.volume[v] * error * profile(x);
        worst = std::max(worst, std::abs(error));
      }
      area += 8.0 * 20.0;
    }
    EXPECT_LT(std::abs(content), 1e-3 * area);  // of volumes that part at the ends of what is looked at
    EXPECT_LT(std::abs(moved), most_moved * area) << tangent;
    EXPECT_LT(worst, most) << tangent;
  }
}

// A plate thinner than a cell moves through the grid between two waters.
TEST_F(WallChangeOf, AMovingPlateKeepsTwoWatersApart) {
  for (const Vec3& direction : {Vec3{1.0, 0.0, 0.0}, {1.0, 2.0, 0.0}, {1.0, -2.0, 3.0}}) {
    const Vec3 normal = (1.0 / norm(direction)) * direction;
    const auto at = [&](int k) { return Vec3::all(6.02) + 0.5 * k * normal; };
    auto here = in_plate(comm_, at(0), normal);
    const auto side = [&](int k) { return [&, k](const Vec3& x) { return dot(x - at(k), normal) > 0.0 ? 1.0 : 0.0; }; };
    Values values = at_centroids(*scalar_grid_of(here, {}), side(0));
    for (int k = 1; k < 8; ++k) {
      const auto next = in_plate(comm_, at(k), normal);
      WallChange change = compare_walls(here, next);
      WallBalance b;
      values = contents_on_other_walls(change, values, {}, 0.0, b);
      EXPECT_EQ(values, at_centroids(change.to, side(k)));
      here = next;
    }
  }
}

/// Σ over the volumes of each cell of level 0.
Values by_cell(const ScalarGrid& grid, std::span<const double> values) {
  const Composite& composite = *grid.composite;
  const Box domain = composite.graph(0).layout().domain().box();
  Values sums(domain.count(), 0.0);
  test::for_unknowns(composite, [&](const Vec3& x, std::size_t vof, int l, int b) {
    const std::int32_t v = composite.numbering().number(l, b, static_cast<int>(vof));
    sums[domain.offset({static_cast<int>(x[0]), static_cast<int>(x[1]), static_cast<int>(x[2])})] +=
        grid.volume[v] * values[v];
  });
  composite.comm().sum(std::span(sums));
  return sums;
}

TEST_F(WallChangeOf, OnAnyRanksMpi) {
  for (const bool refined : {false, true}) {
    std::vector<std::array<Values, 3>> all;
    std::vector<WallBalance> balances;
    for (const Comm& ranks : {comm_, Comm::self()}) {
      MovingPacking packing(ranks, 4, refined);
      const auto before = packing.now();
      WallChange change = compare_walls(before, packing.then(4, 1.5));
      const Values was = at_centroids(change.from, smooth);
      WallBalance b;
      const Values amounts = amounts_on_other_walls(change, was, 0.0, b),
                   contents = contents_on_other_walls(change, was, {}, 0.0, b),
                   points = points_on_other_walls(change, was, 0.0);
      balances.push_back(b);
      all.push_back({by_cell(change.to, contents), by_cell(change.to, amounts), by_cell(change.to, points)});
    }
    for (int kind = 0; kind < 3; ++kind)
      for (std::size_t i = 0; i < all[0][kind].size(); ++i) ASSERT_NEAR(all[0][kind][i], all[1][kind][i], 1e-13);
    EXPECT_NEAR(balances[0].opened, balances[1].opened, 1e-11);
    EXPECT_NEAR(balances[0].closed, balances[1].closed, 1e-11);
  }
}

/// A duct along x with a chamber beside it, and a hole between the two.
std::shared_ptr<const Composite> with_chamber(const Comm& comm, bool hole) {
  const auto cuboid = [](const Vec3& lo, const Vec3& hi) {
    return make_level_set(Cuboid{{0.5 * (lo + hi)}, 0.5 * (hi - lo)});
  };
  LevelSetParts fluid;
  fluid.push_back(cuboid({-1.0, 3.3, 3.3}, {33.0, 8.6, 8.6}));
  fluid.push_back(cuboid({10.4, 10.7, 3.3}, {20.6, 13.7, 8.6}));
  if (hole) fluid.push_back(cuboid({12.8, 8.0, 4.2}, {17.2, 11.0, 7.7}));
  return on(comm, build_geometry(comm, test::unit_cells({32, 16, 12}, {}, 8),
                                 *complement(union_of_solids(std::move(fluid))), KeepPores::connected, with_pieces));
}

// A chamber that opens has the water that the caller gives, one that closes takes its own with it.
TEST_F(WallChangeOf, PoresThatComeAndGoMpi) {
  WallChange opens = compare_walls(with_chamber(comm_, false), with_chamber(comm_, true));
  WallBalance b;
  const Values is = contents_on_other_walls(opens, Values(opens.from.n_own, 3.0), {}, 7.0, b);
  EXPECT_NEAR(b.entered, 7.0 * opens.volumes.entered, 1e-11);
  EXPECT_GT(opens.volumes.entered, 100.0);
  EXPECT_LT(std::abs(b.residual()), 1e-13 * b.after);
  for (std::int32_t v = 0; v < opens.to.n_own; ++v) {
    const double y = opens.to.centroid[v][1];
    if (y < 8.0 || y > 11.0) {
      EXPECT_EQ(is[v], y < 8.0 ? 3.0 : 7.0);
    }
  }
  WallChange closes = compare_walls(with_chamber(comm_, true), with_chamber(comm_, false));
  EXPECT_NEAR(closes.volumes.cut_off, opens.volumes.entered, 1e-11);
  contents_on_other_walls(closes, is, {}, 0.0, b);
  EXPECT_NEAR(b.cut_off, 7.0 * closes.volumes.cut_off, 20.0);  // at the hole it was mixed with the other water
  EXPECT_LT(std::abs(b.residual()), 1e-13 * b.before);
  amounts_on_other_walls(closes, is, 0.0, b);
  EXPECT_LT(std::abs(b.residual()), 1e-13 * b.before);
}

// Each kind as it says, on its set; what pores had must be said.
TEST_F(WallChangeOf, StateMpi) {
  WallChange change = compare_walls(with_chamber(comm_, false), with_chamber(comm_, true));
  State state;
  add_set(state, all_vofs(change.from.composite->geometry()));
  const std::string set = state.sets[0].name;
  const auto twos = [&] { return Array<double>(2 * change.from.n_own, Purpose::buffers, 2.0); };
  add_owned(state, {.name = "c", .unit = "mol", .kind = ItemKind::content, .components = 2, .set = set}, twos());
  add_owned(state, {.name = "m", .unit = "mol", .kind = ItemKind::amount, .components = 2, .set = set}, twos());
  add_owned(state, {.name = "u", .unit = "m/s", .kind = ItemKind::point_value, .components = 2, .set = set}, twos());
  add_owned(state, {.name = "old", .unit = "", .kind = ItemKind::memory, .components = 2, .set = set}, twos());
  std::vector<ItemOnOtherWalls> items;
  EXPECT_TRUE(test::has(test::error_of([&] { state_on_other_walls(change, state, {}, {}, items); }), "nothing says"));
  const State moved = state_on_other_walls(
      change, state, [](const StateItem&, int c) { return 2.0 + c; }, {}, items);
  EXPECT_TRUE(moved.other_grid);
  EXPECT_FALSE(has_item(moved, "old"));
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].balance.cut_off, 0.0);
  EXPECT_NEAR(items[1].balance.entered, 3.0 * change.volumes.entered, 1e-11);
  Values c(2 * change.to.n_own), u(c);
  take_item(moved, "c", 2, c);
  take_item(moved, "u", 2, u);
  double largest = 0.0;
  for (std::int32_t v = 0; v < change.to.n_own; ++v) {
    EXPECT_EQ(c[2 * v], 2.0);
    EXPECT_EQ(u[2 * v], 2.0);
    largest = std::max(largest, c[2 * v + 1]);
  }
  EXPECT_EQ(comm_.max(largest), 3.0);
}

// Boxes that follow the wall are refined in one of the two alone.
TEST_F(WallChangeOf, OtherLevelsAreErrorsMpi) {
  const auto refined_at = [&](double x) {
    return on(comm_, build_geometry(comm_, grid_of(32, 2), *make_level_set(HalfSpace{{x, 0.0, 0.0}, {1.0, 0.0, 0.0}}),
                                    KeepPores::all, with_pieces));
  };
  EXPECT_TRUE(
      test::has(test::error_of([&] { compare_walls(refined_at(8.5), refined_at(14.5)); }), "same refined boxes"));
}

}  // namespace
}  // namespace karst::wall_change_test
