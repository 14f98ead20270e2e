// SPDX-License-Identifier: BSD-3-Clause
// Connected solids and pores, and which of two geometries are the same.
#include "eb/link/solids.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "eb/moving/component_overlaps.hpp"
#include "eb/shapes/combine.hpp"
#include "support/errors.hpp"
#include "support/moving_cases.hpp"

namespace karst::solids_test {
namespace {

using test::MovingWall;
using test::unit_cells;

double ball(double r) { return 4.0 / 3.0 * std::numbers::pi * r * r * r; }

std::unique_ptr<LevelSet> union_of(const std::vector<Sphere>& spheres, const std::vector<Cylinder>& cylinders = {}) {
  LevelSetParts parts;
  for (const Sphere& s : spheres) parts.push_back(make_level_set(s));
  for (const Cylinder& c : cylinders) parts.push_back(make_level_set(c));
  return union_of_solids(std::move(parts));
}

Solids solids_of(const Comm& comm, const LevelSet& phi, const std::array<bool, 3>& periodic = {}) {
  return find_solids(comm, unit_cells(Index::all(24), periodic, 8).domain(), 8, phi);
}

// A sphere in the fluid, one that a side of the domain cuts, one across two of its sides.
TEST(Solids, VolumesPlacesAndWhatReachesTheSidesMpi) {
  const Comm comm = Comm::world();
  const Vec3 middle{12.3, 11.9, 12.2}, at_side{0.0, 18.1, 6.3};
  const Solids found = solids_of(comm, *union_of({{middle, 4.1}, {at_side, 3.2}}));
  const std::vector<Component>& all = found.components.all;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NEAR(all[0].volume, 0.5 * ball(3.2), 0.015 * ball(3.2));  // at z = 3
  EXPECT_EQ(all[0].ends, 1U);
  EXPECT_NEAR(all[0].center[0], 3.0 / 8.0 * 3.2, 0.01);
  EXPECT_NEAR(all[1].volume, ball(4.1), 0.02 * ball(4.1));
  EXPECT_FALSE(all[1].reaches_any());
  EXPECT_LT(norm(all[1].center - middle), 0.01);
  EXPECT_NEAR(found.volumes[0], all[0].volume + all[1].volume, 1e-9);
}

// Across periodic sides a body is one, and its centre is where it is; what goes round the domain leads through it.
TEST(Solids, PeriodicSidesMpi) {
  const Comm comm = Comm::world();
  const GridOptions grid = unit_cells(Index::all(24), {true, true, true}, 8);
  const auto body = periodic_images(make_level_set(Sphere{{0.6, 23.1, 12.4}, 4.3}), Vec3::all(24.0), {true, true, true},
                                    Vec3::all(4.3));
  const Solids found = find_solids(comm, grid.domain(), 8, *body);
  ASSERT_EQ(found.components.all.size(), 1U);
  EXPECT_LT(norm(found.components.all[0].center - Vec3{0.6, 23.1, 12.4}), 0.01);
  EXPECT_FALSE(found.components.all[0].reaches_any());
  const Solids rod = solids_of(comm, *make_level_set(Cylinder{frame_along({12.0, 7.3, 9.1}, {1.0, 0.0, 0.0}), 3.0}),
                               {true, true, true});
  ASSERT_EQ(rod.components.all.size(), 1U);
  EXPECT_EQ(rod.components.all[0].through, 1U);
  EXPECT_TRUE(rod.components.all[0].reaches(0));
  EXPECT_FALSE(rod.components.all[0].reaches(1));
}

// Fluid and solid fill the domain; what both parts of the geometry find agrees on any number of ranks.
TEST(Solids, FillTheDomainWithPoresMpi) {
  const Comm comm = Comm::world(), alone = Comm::self();
  const std::shared_ptr<const LevelSet> phi0 = test::packing(12, 5.3, 32, true);
  std::vector<Topology> found;
  for (const Comm& ranks : {comm, alone}) {
    MovingWall wall(ranks, test::grid_of(32, 1, true), phi0);
    wall.move(test::uniform_speed(1.0), 0.9);
    const Geometry geometry = wall.with_pieces();
    found.push_back(*geometry.topology);
    double solid = 0.0, fluid = 0.0;
    for (const Component& c : found.back().solids.all) solid += c.volume;
    for (const Component& c : found.back().pores.all) fluid += c.volume;
    EXPECT_NEAR(fluid, geometry.report.levels[0].volume, 1e-8);
    EXPECT_NEAR(solid + fluid, 32768.0, 2e-5 * 32768.0);  // but for gaps and necks thinner than a cell
    EXPECT_NEAR(*geometry.report.minerals[0].volume + fluid, 32768.0, 1e-8);
    EXPECT_EQ(std::ssize(found.back().pores.all), geometry.report.levels[0].pores);
  }
  for (const auto& of : {&Topology::pores, &Topology::solids}) {
    const std::vector<Component>&a = (found[0].*of).all, &b = (found[1].*of).all;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i].volume, b[i].volume, 1e-9);
      EXPECT_LT(norm(a[i].center - b[i].center), 1e-9);
      EXPECT_EQ(a[i].first, b[i].first);
      EXPECT_EQ(a[i].through, b[i].through);
    }
  }
}

// A neck holds two grains together, and a gap of a quarter of a cell or more keeps them apart.
TEST(Solids, ANeckHoldsGrainsTogether) {
  const Comm comm = Comm::world();
  const Sphere left{{7.1, 12.2, 12.3}, 4.0}, right{{17.2, 12.2, 12.3}, 4.0};
  for (const double neck : {1.0, 0.4, 0.3}) {
    const Cylinder rod{frame_along({12.15, 12.2, 12.3}, {1.0, 0.0, 0.0}), neck, 4.0};
    EXPECT_EQ(solids_of(comm, *union_of({left, right}, {rod})).components.all.size(), 1U) << neck;
  }
  for (const double gap : {0.3, 0.6, 1.2}) {
    const double r = 0.5 * (right.center[0] - left.center[0] - gap);
    EXPECT_EQ(solids_of(comm, *union_of({{left.center, r}, {right.center, r}})).components.all.size(), 2U) << gap;
  }
  EXPECT_EQ(solids_of(comm, *union_of({{left.center, 5.2}, {right.center, 5.2}})).components.all.size(), 1U);
}

// Minerals have the volume of their shapes.
TEST(Solids, VolumesOfMinerals) {
  const Comm comm = Comm::world();
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{6.2, 7.1, 8.3}, 4.0}), 0));
  parts.push_back(of_mineral(make_level_set(Sphere{{16.1, 15.3, 14.2}, 5.0}), 1));
  const auto phi = union_of_solids(std::move(parts), {"calcite", "quartz"});
  const Solids found = solids_of(comm, *phi);
  ASSERT_EQ(found.volumes.size(), 2U);
  EXPECT_NEAR(found.volumes[0], ball(4.0), 0.02 * ball(4.0));
  EXPECT_NEAR(found.volumes[1], ball(5.0), 0.02 * ball(5.0));
}

// Without a motion each component shares all its volume with itself; with one, no more than both have. Both ways agree.
TEST(ComponentOverlaps, OfAPackingThatDissolvesMpi) {
  const Comm comm = Comm::world();
  const std::shared_ptr<const LevelSet> phi0 = test::packing(12, 5.3, 32, true);
  MovingWall wall(comm, test::grid_of(32, 1, true), phi0);
  const Geometry a = wall.with_pieces();
  wall.move(test::uniform_speed(1.0), 4.4);
  const Geometry b = wall.with_pieces();
  EXPECT_GT(b.topology->solids.all.size(), 3U);
  for (const auto& of : {&Topology::pores, &Topology::solids}) {
    const Components &was = (*a.topology).*of, &is = (*b.topology).*of;
    for (const ComponentOverlap& o : component_overlaps(comm, was, was)) {
      EXPECT_EQ(o.before, o.after);
      EXPECT_NEAR(o.volume, was.all[o.before].volume, 1e-4);  // volumes of pieces are in single precision
    }
    const std::vector<ComponentOverlap> there = component_overlaps(comm, was, is),
                                        back = component_overlaps(comm, is, was);
    ASSERT_EQ(there.size(), back.size());
    double sum = 0.0, sum_back = 0.0;
    for (const ComponentOverlap& o : there) {
      EXPECT_LE(o.volume, std::min(was.all[o.before].volume, is.all[o.after].volume) + 1e-4);
      sum += o.volume;
    }
    for (const ComponentOverlap& o : back) sum_back += o.volume;
    EXPECT_NEAR(sum, sum_back, 1e-4);
  }
  EXPECT_TRUE(
      test::has(test::error_of([&] { component_overlaps(comm, a.topology->pores, solids_of(comm, *phi0).components); }),
                "grids differ"));
}

// Two pores on the sides of a plate that is thinner than a cell and moves: neither shares volume with the other.
TEST(ComponentOverlaps, BothSidesOfAThinPlateStayApart) {
  const Comm comm = Comm::world();
  const GridOptions grid = unit_cells({16, 8, 8}, {false, true, true}, 8);
  const auto plate_at = [&](double x) {
    LevelSetParts parts;
    parts.push_back(make_level_set(HalfSpace{{x - 0.2, 0.0, 0.0}, {-1.0, 0.0, 0.0}}));
    parts.push_back(make_level_set(HalfSpace{{x + 0.2, 0.0, 0.0}, {1.0, 0.0, 0.0}}));
    return build_geometry(comm, grid, *intersection_of_solids(std::move(parts)), KeepPores::all,
                          {ControlVolumes::home_cells, true});
  };
  const Geometry a = plate_at(7.45), b = plate_at(7.65);
  ASSERT_EQ(a.topology->pores.all.size(), 2U);
  const std::vector<ComponentOverlap> pores = component_overlaps(comm, a.topology->pores, b.topology->pores);
  ASSERT_EQ(pores.size(), 2U);
  for (const ComponentOverlap& o : pores) EXPECT_EQ(o.before, o.after);
  ASSERT_EQ(a.topology->solids.all.size(), 1U);
  EXPECT_EQ(a.topology->solids.all[0].through, 6U);  // y and z
}

}  // namespace
}  // namespace karst::solids_test
