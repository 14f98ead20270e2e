// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "app/run/summary.hpp"
#include "base/file/json.hpp"
#include "eb/described_level_set.hpp"

namespace karst::plot_fields_test {
namespace {

constexpr double radius = 0.31e-3;  // [m]
constexpr Vec3 center{0.5e-3, 0.48e-3, 0.53e-3};

/// A solid ball in a millimetre cube of 24³ cells (boxes of 16: some are clipped), and what the plotfile would hold.
struct Ball {
  explicit Ball(int levels = 1) {
    SolidOptions ball;
    ball.center = center;
    ball.radius = radius;
    options.solids = {ball};
    grid.cells = Index::all(24);
    grid.size = Vec3::all(1e-3);
    grid.levels = levels;
    if (levels > 1) grid.refine = {Refinement{}};
    level_set = make_described_level_set(options, grid.cell_width(), grid.size, grid.periodic);
    geometry = build_geometry(comm, grid, *level_set, KeepPores::all);
  }
  /// Calls f(cell, value) for all cells of the own boxes of a level.
  template <class F>
  void for_each_value(const PlotComponent& component, F&& f, int level = 0) const {
    const LevelGraph& graph = geometry.levels[level].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const Box box = graph.box(b).cells;
      std::vector<float> values(box.count(), -1.0F);
      fill_plot_component(geometry, *level_set, grid.cell_width(), component, level, b, values);
      for_each_cell(box, [&](const Index& c) { f(c, double{values[box.offset(c)]}); });
    }
  }
  double sum(const PlotComponent& component) const {
    double total = 0.0;
    for_each_value(component, [&](const Index&, double v) { total += v; });
    return comm.sum(total);
  }

  Comm comm = Comm::world();
  GeometryOptions options;
  GridOptions grid;
  std::unique_ptr<LevelSet> level_set;
  Geometry geometry;
};

TEST(PlotFields, WordsGiveComponents) {
  std::vector<std::string> names;
  for (const PlotComponent& c : plot_components({PlotField::wall_normal, PlotField::fraction})) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"wall_normal_x", "wall_normal_y", "wall_normal_z", "fraction"}));
}

TEST(PlotFieldsMpi, FractionsAddUpToThePoreVolume) {
  const Ball ball;
  const double pore = ball.sum({"fraction", PlotField::fraction, 0}) / (24.0 * 24.0 * 24.0);
  EXPECT_NEAR(pore, ball.geometry.report.connected_porosity, 1e-6);  // single precision
  EXPECT_NEAR(pore, 1.0 - 4.0 / 3.0 * std::numbers::pi * std::pow(radius / 1e-3, 3), 0.002);
}

// Fluid is shown where it lies, though the control volumes of the small cells are those of their neighbours: near the
// flat poles of the ball a cell is filled up to its distance from the wall.
TEST(PlotFieldsMpi, FractionsAreThoseOfTheFluidInTheCell) {
  const Ball ball;
  const double h = ball.grid.cell_width();
  std::int64_t cut = 0, below_half = 0;
  ball.for_each_value({"fraction", PlotField::fraction, 0}, [&](const Index& c, double fraction) {
    EXPECT_GE(fraction, 0.0);
    EXPECT_LE(fraction, 1.0);
    const Vec3 from = Vec3{(c[0] + 0.5) * h, (c[1] + 0.5) * h, (c[2] + 0.5) * h} - center;
    const double distance = (norm(from) - radius) / h;
    if (distance > 0.87) {
      EXPECT_EQ(fraction, 1.0);
    }
    if (distance < -0.87) {
      EXPECT_EQ(fraction, 0.0);
    }
    if (std::hypot(from[0], from[1]) > 1.5 * h || std::abs(distance) > 0.4) return;
    ++cut;
    below_half += distance < 0.0 && fraction > 0.0 ? 1 : 0;
    EXPECT_NEAR(fraction, 0.5 + distance, 0.06);  // the ball bends by (1.5 h)² / 2 R = 0.15 h within these cells
  });
  EXPECT_GT(ball.comm.sum(cut), 4);
  EXPECT_GT(ball.comm.sum(below_half), 0);
}

TEST(PlotFieldsMpi, WallAreasAddUpToTheBall) {
  const Ball ball;
  const double area = ball.sum({"wall_area", PlotField::wall_area, 0});  // [m²]
  const double h = ball.grid.cell_width();
  EXPECT_NEAR(area / (h * h * ball.geometry.report.wall_area), 1.0, 1e-5);
  EXPECT_NEAR(area / (4.0 * std::numbers::pi * radius * radius), 1.0, 0.01);
}

TEST(PlotFieldsMpi, DistanceIsInMetresOnEveryLevel) {
  const Ball ball(2);
  for (int level = 0; level < 2; ++level) {
    const double h = std::ldexp(ball.grid.cell_width(), -level);
    ball.for_each_value(
        {"distance", PlotField::distance, 0},
        [&](const Index& c, double phi) {
          const Vec3 x{(c[0] + 0.5) * h, (c[1] + 0.5) * h, (c[2] + 0.5) * h};
          EXPECT_NEAR(phi, norm(x - center) - radius, 1e-9);
        },
        level);
  }
}

TEST(PlotFieldsMpi, NormalsHaveLengthOneWhereThereIsWallAndPointIntoTheFluid) {
  const Ball ball;
  const double h = ball.grid.cell_width();
  std::vector<Vec3> normal(24 * 24 * 24);
  const auto at = [](const Index& c) { return static_cast<std::size_t>(Box{Index{}, Index::all(24)}.offset(c)); };
  for (int d = 0; d < 3; ++d)
    ball.for_each_value({"", PlotField::wall_normal, d}, [&](const Index& c, double v) { normal[at(c)][d] = v; });
  std::int64_t walls = 0;
  ball.for_each_value({"", PlotField::wall_area, 0}, [&](const Index& c, double area) {
    EXPECT_NEAR(norm(normal[at(c)]), area > 0.0 ? 1.0 : 0.0, 1e-6);
    if (area <= 0.0) return;
    ++walls;
    const Vec3 outwards = Vec3{(c[0] + 0.5) * h, (c[1] + 0.5) * h, (c[2] + 0.5) * h} - center;
    EXPECT_GT(dot(normal[at(c)], outwards) / norm(outwards), 0.9);
  });
  EXPECT_GT(ball.comm.sum(walls), 500);
}

TEST(SummaryMpi, HoldsTheContractAndAgreesWithTheGeometry) {
  const Ball ball(2);
  Summary summary;
  summary.deck = "ball.toml";
  summary.geometry = collect_statistics(ball.comm, ball.geometry, ball.grid.cell_width(), "a \"ball\"");
  summary.memory = measure_memory(ball.comm);
  summary.seconds = {1.0, 2.0, 4.0};
  const auto json = summary_json(summary);
  for (const char* key : {"karst", "deck", "status", "porosity", "connected_porosity", "specific_surface_per_m"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"fluid", "irregular", "multivalued_vofs", "merged", "boxes", "boxes_pruned"})
    EXPECT_TRUE(json["cells"].contains(key)) << key;
  EXPECT_EQ(json["title"], "a \"ball\"");
  EXPECT_EQ(json["ranks"].get<int>(), ball.comm.size());
  EXPECT_EQ(json["seconds"]["total"].get<double>(), 4.0);
  EXPECT_EQ(json["levels"].size(), 2U);
  EXPECT_GT(json["memory"]["peak_bytes"].get<std::int64_t>(), 1000000);
  const double area = 4.0 * std::numbers::pi * radius * radius;  // over 1e-9 m³
  EXPECT_NEAR(json["specific_surface_per_m"].get<double>() / (area / 1e-9), 1.0, 0.01);
  const LevelReport& coarse = ball.geometry.report.levels[0];
  const LevelReport& fine = ball.geometry.report.levels[1];
  EXPECT_EQ(json["cells"]["fluid"].get<std::int64_t>(), coarse.vofs_composite + fine.vofs);
  EXPECT_EQ(json["cells"]["irregular"].get<std::int64_t>(), fine.irregular);  // the whole wall is refined
}

TEST(StatisticsMpi, BytesOfTheLevelsAreThoseOfTheGraphAndMoments) {
  const Ball ball(2);
  const GeometryStatistics s = collect_statistics(ball.comm, ball.geometry, ball.grid.cell_width(), "");
  for (std::size_t l = 0; l < 2; ++l) {
    const LevelGeometry& level = ball.geometry.levels[l];
    const auto own = static_cast<std::int64_t>(level.moments.bytes() + level.extra.bytes()) + level.graph.bytes();
    EXPECT_EQ(s.bytes[l].irregular + s.bytes[l].regular + s.bytes[l].exchange, ball.comm.sum(own));
    EXPECT_GE(s.bytes[l].exchange, 0);
    EXPECT_GE(s.bytes[l].irregular,
              static_cast<std::int64_t>(sizeof(VofMoments)) * ball.geometry.report.levels[l].irregular);
  }
}

// A ball of quartz on a floor of calcite: the field is 0 without wall and else what lies there, and table and summary
// state the areas.
TEST(PlotFieldsMpi, MineralsAreThoseOfTheWall) {
  Ball ball;
  SolidOptions floor;
  floor.shape = SolidShape::plane;
  floor.point = {0.0, 0.0, 0.1e-3};
  floor.mineral = "calcite";
  ball.options.solids[0].mineral = "quartz";
  ball.options.solids.push_back(floor);
  ball.level_set = make_described_level_set(ball.options, ball.grid.cell_width(), ball.grid.size, ball.grid.periodic);
  ball.geometry = build_geometry(ball.comm, ball.grid, *ball.level_set, KeepPores::all);
  std::map<std::array<int, 3>, double> area;
  ball.for_each_value({"", PlotField::wall_area, 0}, [&](const Index& c, double a) { area[c.v] = a; });
  ball.for_each_value({"", PlotField::mineral, 0}, [&](const Index& c, double m) {
    EXPECT_EQ(m, area[c.v] == 0.0 ? 0.0 : c[2] < 4 ? 2.0 : 1.0) << c[0] << " " << c[1] << " " << c[2];
  });
  GeometryStatistics s = collect_statistics(ball.comm, ball.geometry, ball.grid.cell_width(), "");
  ASSERT_EQ(s.report.minerals.size(), 2U);
  EXPECT_NEAR(s.wall_area(s.report.minerals[1]), 1e-6, 1e-15);
  EXPECT_NE(pores_table(s).find("of calcite                      1e-06 m²"), std::string::npos) << pores_table(s);
  Summary summary;
  summary.geometry = s;
  const auto json = summary_json(summary);
  EXPECT_EQ(json["minerals"][1]["name"], "calcite");
  EXPECT_NEAR(json["minerals"][1]["wall_area_m2"].get<double>(), 1e-6, 1e-15);
  EXPECT_NEAR(json["minerals"][0]["fraction"].get<double>() + json["minerals"][1]["fraction"].get<double>(), 1.0,
              1e-12);
}

TEST(Statistics, NumbersAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(-12345678), "-12 345 678");
}

TEST(Statistics, WarningsNameWhatIsLostAndWhatDoesNotPercolate) {
  GeometryStatistics s;
  s.report.levels.resize(1);
  EXPECT_EQ(warnings(s).size(), 1U);  // no axis percolates
  s.report.percolates[1] = true;
  EXPECT_TRUE(warnings(s).empty());
  s.report.levels[0].cut.gaps_closed = 5;  // ordinary between grains
  EXPECT_TRUE(warnings(s).empty());
  s.report.levels[0].cut.walls_lost = 3;
  EXPECT_NE(warnings(s).at(0).find("3 edges"), std::string::npos);
}

}  // namespace
}  // namespace karst::plot_fields_test
