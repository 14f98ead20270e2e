// SPDX-License-Identifier: BSD-3-Clause
// Minerals on the wall: areas that are known, what adds up, what does not depend on boxes, ranks and mirrors.
#include "eb/cut/wall_minerals.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "eb/mineral_choice.hpp"
#include "eb/shapes/combine.hpp"
#include "eb/shapes/image_level_set.hpp"
#include "eb/shapes/reservoir_level_set.hpp"
#include "eb/shapes/shapes.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"

namespace karst::wall_minerals_test {
namespace {

using std::numbers::pi;
using test::error_of;

GridOptions grid(const Index& cells, int box = 8, int levels = 1) {
  GridOptions g;
  g.cells = cells;
  for (int d = 0; d < 3; ++d) g.size[d] = cells[d];
  g.box = box;
  g.levels = levels;
  for (int l = 1; l < levels; ++l) g.refine.push_back({l, Refinement::Where::wall, {}, {}, 1});
  return g;
}

std::vector<double> areas_of(const GeometryReport& report) {
  std::vector<double> areas;
  for (const MineralWall& mineral : report.minerals) areas.push_back(mineral.area);
  return areas;
}

/// Of every row the areas add up to its wall, sorted by mineral, the largest is the one stated; of the level they add
/// up to the wall of the level.
void expect_balance(const Geometry& geometry) {
  for (const LevelGeometry& level : geometry.levels) {
    ASSERT_EQ(level.mineral.size(), level.moments.size());
    for (std::size_t row = 0; row < level.moments.size(); ++row) {
      double sum = 0.0, most = 0.0;
      int last = -1;
      MineralNumber largest = no_mineral;
      for_each_mineral(level, static_cast<std::int64_t>(row), [&](MineralNumber mineral, double area) {
        EXPECT_GT(int{mineral}, last);
        last = mineral;
        sum += area;
        if (area > most) most = area, largest = mineral;
      });
      ASSERT_NEAR(sum, level.moments[row].wall_area, 1e-14 * (1.0 + sum));
      ASSERT_EQ(largest, level.mineral[row]);
    }
  }
  double sum = 0.0;
  for (const MineralWall& mineral : geometry.report.minerals) sum += mineral.area;
  EXPECT_NEAR(sum, geometry.report.wall_area, 1e-12 * sum);
}

/// φ = f(x), f and minerals of voxel centres in voxels.
ImageSource image_of(const Index& voxels, std::vector<std::string> minerals,
                     const std::function<double(const Vec3&)>& f,
                     const std::function<MineralNumber(const Index&)>& mineral) {
  ImageSource source{.voxels = voxels};
  source.read = [f](const Box& box, std::span<float> out) {
    std::size_t n = 0;
    for_each_cell(box, [&](const Index& v) { out[n++] = static_cast<float>(f({v[0] + 0.5, v[1] + 0.5, v[2] + 0.5})); });
  };
  source.minerals = std::move(minerals);
  source.read_minerals = [f, mineral](const Box& box, std::span<MineralNumber> out) {
    std::size_t n = 0;
    for_each_cell(box, [&](const Index& v) {
      out[n++] = f({v[0] + 0.5, v[1] + 0.5, v[2] + 0.5}) > 0.0 ? no_mineral : mineral(v);
    });
  };
  return source;
}

// Two plates and a ball between them, each of its own mineral: areas of plane walls are exact, that of the ball as good
// as any wall; on one and two levels, in boxes of 8 and 16.
TEST(WallMinerals, SolidsHaveTheirWallsMpi) {
  const Comm comm = Comm::world();
  for (const int levels : {1, 2}) {
    LevelSetParts parts;
    parts.push_back(of_mineral(make_level_set(HalfSpace{{0, 0, 1.3}, {0, 0, 1}}), 2));
    parts.push_back(of_mineral(make_level_set(HalfSpace{{0, 0, 14.6}, {0, 0, -1}}), 0));
    parts.push_back(of_mineral(make_level_set(Sphere{{7.6, 8.1, 8.2}, 4.7}), 1));
    const auto phi = union_of_solids(std::move(parts), {"calcite", "clay", "quartz"});
    const Geometry geometry = build_geometry(comm, grid(Index::all(16), 8, levels), *phi, KeepPores::all);
    expect_balance(geometry);
    const std::vector<double> areas = areas_of(geometry.report);
    ASSERT_EQ(areas.size(), 3u);
    EXPECT_NEAR(areas[0], 256.0, 1e-9);
    EXPECT_NEAR(areas[2], 256.0, 1e-9);
    EXPECT_NEAR(areas[1] / (4 * pi * 4.7 * 4.7), 1.0, 0.01);
    EXPECT_EQ(geometry.report.minerals[2].name, "quartz");
  }
}

/// A ball whose wall is of two minerals, on the two sides of a plane.
class TwoCaps final : public LevelSet {
 public:
  TwoCaps(const Sphere& ball, const HalfSpace& side) : ball_(ball), side_(side), all_(make_level_set(ball)) {}
  Smoothness smoothness() const override { return all_->smoothness(); }
  std::vector<std::string> minerals() const override { return {"below", "above"}; }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    return std::make_unique<Local>(all_->local(lo, hi), side_);
  }

 private:
  class Local final : public LocalLevelSet {
   public:
    Local(std::unique_ptr<LocalLevelSet> all, const HalfSpace& side) : all_(std::move(all)), side_(side) {}
    void evaluate(std::span<const Vec3> x, std::span<double> phi) const override { all_->evaluate(x, phi); }
    MineralNumber only_mineral(const Vec3&, const Vec3&) const override { return no_mineral; }
    void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
      areas[dot(x - side_.point, side_.normal) > 0.0 ? 1 : 0] += area;
    }

   private:
    std::unique_ptr<LocalLevelSet> all_;
    HalfSpace side_;
  };
  Sphere ball_;
  HalfSpace side_;
  std::unique_ptr<LevelSet> all_;
};

// Archimedes: a cap of height t has 2 π R t. The error of its share falls faster than the cell width.
TEST(WallMinerals, AreasOfCapsConvergeMpi) {
  const Comm comm = Comm::world();
  std::vector<double> errors;
  for (const int n : {8, 16, 32}) {
    double worst = 0.0;
    for (const double height : {-0.31, 0.04, 0.17, 0.52}) {
      const double radius = 0.36 * n;
      const Vec3 center = n * Vec3{0.47, 0.52, 0.51}, normal{2.0 / 7, 3.0 / 7, 6.0 / 7};
      const TwoCaps phi({center, radius}, {center + (height * radius) * normal, normal});
      const Geometry geometry = build_geometry(comm, grid(Index::all(n)), phi, KeepPores::all);
      expect_balance(geometry);
      worst = std::max(worst,
                       std::abs(geometry.report.minerals[1].area / geometry.report.wall_area - 0.5 * (1.0 - height)));
    }
    errors.push_back(worst);
  }
  EXPECT_LT(errors[2], 5e-4);
  EXPECT_LT(errors[2], errors[0] / 6.0) << errors[0] << " " << errors[1];
}

// Voxels of two minerals in stripes behind a flat wall, in cells of a half, one and two voxels: every stripe has its
// area to the last bit, also where a stripe ends in the middle of a cell, as points between two voxels count for both.
TEST(WallMinerals, StripesOfVoxelsHaveTheirAreasMpi) {
  const auto wall = [](const Vec3& x) { return x[2] - 5.0; };
  const auto stripe = [](const Index& v) { return static_cast<MineralNumber>(v[0] < 3 ? 0 : v[0] < 8 ? 2 : 1); };
  for (const int cells : {8, 16, 32}) {
    ImageSource image = image_of(Index::all(16), {"a", "b", "c"}, wall, stripe);
    image.voxel = cells / 16.0;
    const Geometry geometry =
        build_geometry(Comm::world(), grid(Index::all(cells)), ImageLevelSet(image), KeepPores::all);
    expect_balance(geometry);
    const double face = image.voxel * image.voxel;
    const std::vector<double> areas = areas_of(geometry.report);
    EXPECT_NEAR(areas[0], 3 * 16 * face, 1e-9) << cells;
    EXPECT_NEAR(areas[1], 8 * 16 * face, 1e-9) << cells;
    EXPECT_NEAR(areas[2], 5 * 16 * face, 1e-9) << cells;
  }
}

// Voxels of three minerals at random behind a wavy wall: mirrored and turned images have the same areas, and so has any
// number of ranks and any box.
TEST(WallMinerals, MirrorsAndBoxesDoNotMatterMpi) {
  constexpr int n = 16;
  std::mt19937 random(7);
  std::vector<MineralNumber> number(n * n * n);
  for (MineralNumber& m : number) m = static_cast<MineralNumber>(random() % 3);
  std::vector<double> first;
  for (const std::array<int, 3>& axes : {std::array{0, 1, 2}, std::array{1, 2, 0}})
    for (unsigned flip = 0; flip < 8; ++flip)
      for (const int box : {8, 16}) {
        if (box == 16 && flip != 0) continue;
        const auto original = [&](const Vec3& x) {
          Vec3 at;
          for (std::size_t d = 0; d < 3; ++d)
            at[axes[d]] = flip >> d & 1 ? n - x[static_cast<int>(d)] : x[static_cast<int>(d)];
          return at;
        };
        const auto phi = [&](const Vec3& x) {
          const Vec3 y = original(x);
          return y[2] - 7.2 - 2.0 * std::sin(0.5 * y[0]) * std::cos(0.7 * y[1]);
        };
        const auto mineral = [&](const Index& v) {
          const Vec3 y = original({v[0] + 0.5, v[1] + 0.5, v[2] + 0.5});
          return number[(int(y[2]) * n + int(y[1])) * n + int(y[0])];
        };
        const ImageLevelSet image(image_of(Index::all(n), {"a", "b", "c"}, phi, mineral));
        const Geometry geometry = build_geometry(Comm::world(), grid(Index::all(n), box), image, KeepPores::all);
        const std::vector<double> areas = areas_of(geometry.report);
        if (first.empty()) first = areas;
        for (std::size_t m = 0; m < 3; ++m) EXPECT_NEAR(areas[m], first[m], 1e-11 * first[m]) << flip << " " << box;
      }
}

// A wall that was moved out of reach of the voxels still has a mineral; the nearest voxel wins within it.
TEST(WallMinerals, MovedWallsFindTheirVoxels) {
  const auto wall = [](const Vec3& x) { return x[2] - 5.0; };
  const auto half = [](const Index& v) { return static_cast<MineralNumber>(v[1] < 4); };
  for (const double shift : {-1.0, -0.4, 0.4, 1.0, -6.0}) {
    ImageSource image = image_of(Index::all(12), {"a", "b"}, wall, half);
    image.shift = shift;
    const Geometry geometry = build_geometry(Comm::world(), grid(Index::all(12)), ImageLevelSet(image), KeepPores::all);
    const std::vector<double> areas = areas_of(geometry.report);
    EXPECT_NEAR(areas[1], shift == -6.0 ? 0.0 : 48.0, 1e-9) << shift;
    EXPECT_NEAR(areas[0], shift == -6.0 ? 144.0 : 96.0, 1e-9) << shift;
  }
}

// The cut ends of a sample are of the mineral of the solid there.
TEST(WallMinerals, EndsAtReservoirsAreOfTheSolid) {
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(HalfSpace{{0, 0, 3}, {0, 0, 1}}), 0));
  parts.push_back(of_mineral(make_level_set(HalfSpace{{0, 0, 6}, {0, 0, -1}}), 1));
  const auto phi = between_reservoirs(union_of_solids(std::move(parts), {"a", "b"}), 0, 4.0, 8.0);
  const Geometry geometry = build_geometry(Comm::world(), grid({16, 8, 8}), *phi, KeepPores::all);
  const std::vector<double> areas = areas_of(geometry.report);
  EXPECT_NEAR(areas[0], 8 * 8 + 2 * 3 * 8, 1e-9);
  EXPECT_NEAR(areas[1], 8 * 8 + 2 * 2 * 8, 1e-9);
}

// One mineral: nothing is stored, and everything is number 0.
TEST(WallMinerals, OneMineralTakesNoMemory) {
  const auto phi = make_level_set(Sphere{{8, 8, 8}, 4.2});
  const Geometry geometry = build_geometry(Comm::world(), grid(Index::all(16)), *phi, KeepPores::all);
  EXPECT_EQ(geometry.levels[0].mineral.size(), 0u);
  EXPECT_EQ(geometry.levels[0].mixed.size(), 0u);
  ASSERT_EQ(geometry.report.minerals.size(), 1u);
  EXPECT_EQ(geometry.report.minerals[0].name, "solid");
  EXPECT_DOUBLE_EQ(geometry.report.minerals[0].area, geometry.report.wall_area);
}

TEST(MineralChoice, NumbersFollowTheNamesAskedFor) {
  const std::vector<std::string> there{"quartz", "calcite", "clay", surroundings};
  const MineralChoice all = choose_minerals(there, {});
  EXPECT_EQ(all.names, there);
  EXPECT_EQ(all.number, (std::vector<MineralNumber>{0, 1, 2, 3}));
  const MineralChoice two = choose_minerals(there, {"clay", "quartz"});
  EXPECT_EQ(two.names, (std::vector<std::string>{"clay", "quartz", "other", surroundings}));
  EXPECT_EQ(two.number, (std::vector<MineralNumber>{1, 2, 0, 3}));
  EXPECT_EQ(choose_minerals({"a", "b"}, {"b", "a"}).names, (std::vector<std::string>{"b", "a"}));
  const std::string wrong = error_of([&] { choose_minerals(there, {"clay", "dolomite", "clay", "calcit"}); });
  for (const char* part : {"\"dolomite\"", "\"clay\" is listed twice", "did you mean \"calcite\""})
    EXPECT_NE(wrong.find(part), std::string::npos) << part << " is not in: " << wrong;
}

}  // namespace
}  // namespace karst::wall_minerals_test
