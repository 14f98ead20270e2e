// SPDX-License-Identifier: BSD-3-Clause
// Walls that move between steady states, against closed forms.
#include "app/job/moving_walls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <tuple>

#include "eb/moving/standing_minerals.hpp"
#include "support/errors.hpp"
#include "support/walls_runs.hpp"

namespace karst::moving_walls_test {
namespace {

using Ran = test::WallsRun;
using test::expect_balance;
using test::slab_at;
Ran run(const std::string& deck) { return test::run_walls(deck); }
const std::string slab = std::string(test::slab).insert(std::string(test::slab).find("axis"), "mode = \"steady\"\n");

TEST(MovingWallsMpi, AWallThatDiffusionReaches) {
  const PetscSession petsc;
  std::vector<double> errors;
  for (const double most : {0.5, 0.25}) {
    const Ran ran =
        run(slab + fmt::format("[walls]\ndisplacement = {}\n[[walls.mineral]]\nmolar_volume = 0.1\nmoles = 0.5\n"
                               "[time]\nend = 3000\n",
                               most));
    expect_balance(ran);
    for (std::size_t i = 0; i < ran.columns.at("time_s").size(); ++i)
      EXPECT_NEAR(24.0 * ran.columns.at("porosity")[i], slab_at(2.0, 0.05, ran.columns.at("time_s")[i]), 2e-3) << i;
    errors.push_back(ran.last("dissolved_m3") / 64.0 - (slab_at(2.0, 0.05, 3000.0) - 12.7));
    EXPECT_NEAR(ran.last("solid_dissolved_mol"), ran.last("dissolved_m3") / 0.1, 1e-9);
  }
  EXPECT_LT(std::abs(errors[0]), 4e-4);  // of 3.2 cells
  EXPECT_GT(errors[0] / errors[1], 3.0);
}

TEST(MovingWalls, AWallThatGrows) {
  const PetscSession petsc;
  std::string deck = slab;
  deck.replace(deck.find("inlet = 2"), 9, "inlet = 0");
  const Ran ran = run(deck + "equilibrium = 2\n[[walls.mineral]]\nmolar_volume = 0.1\n[time]\nend = 800\n");
  expect_balance(ran);
  ASSERT_EQ(ran.result.warnings.size(), 1U);  // V c = 0.2; k h / D = 0.25 is none
  EXPECT_TRUE(test::has(ran.result.warnings[0], "molar volume times concentration is 0.2"));
  // With c - 2 in place of c: c0 = -2.
  EXPECT_NEAR(24.0 * ran.last("porosity"), slab_at(-2.0, 0.1, 800.0), 2e-3);
  EXPECT_LT(ran.last("solid_rate_m3_s"), 0.0);
}

constexpr const char* sphere = R"(
[[geometry.solid]]
shape = "sphere"
center = [11.7, 12.2, 12.4]
radius = 6
[grid]
cells = [24, 24, 24]
size = [24, 24, 24]
periodic = [true, true, true]
)";

// A given speed, as a sphere of the same volume: its radius is off by what the cut cells miss at the start (0.0136) and
// by the trapezoidal rule, Σ dt³ A'' / 12; the wall is there but for what it owes. A sphere that dissolves to its end
// is gone, and the run ends.
TEST(MovingWalls, ASphereWithAGivenSpeedAloneByDay) {
  const PetscSession petsc;
  const auto volume = [](const Ran& ran) { return 13824.0 * (1.0 - ran.last("porosity")); };
  const auto of = [](double r) { return 4.0 / 3.0 * std::numbers::pi * r * r * r; };
  for (const double speed : {-0.5, 0.5}) {
    const Ran ran = run(std::string(sphere) + fmt::format("[[walls.mineral]]\nspeed = {}\n[time]\nend = 6\n", speed));
    expect_balance(ran);
    const double end = 6.0 - 6.0 * speed, steps = 2.0 * std::abs(end - 6.0) + 2.0;
    const double area = 4.0 * std::numbers::pi * end * end;
    const double trapezoidal = 8.0 * std::numbers::pi / 12.0 * std::pow(0.5, 3) * steps;
    EXPECT_NEAR(std::cbrt((volume(ran) - ran.last("owed_m3")) / of(1.0)), end, 0.0137 + trapezoidal / area) << speed;
  }
  const Ran all = run(std::string(sphere) + "[[walls.mineral]]\nspeed = 0.5\n[time]\nend = 20\n");
  EXPECT_EQ(volume(all), 0.0);
  EXPECT_NEAR(all.last("dissolved_m3"), of(6.0), 1e-2 * of(6.0));
  EXPECT_NEAR(all.last("time_s"), 12.0, 0.5);
  ASSERT_EQ(all.result.warnings.size(), 1U);
  EXPECT_TRUE(test::has(all.result.warnings[0], "all walls that move are gone"));
}

// Far from walls that move, those of a mineral that does not keep their cut cells to the last bit.
TEST(MovingWalls, WhatStandsKeepsItsWall) {
  const PetscSession petsc;
  const Ran ran = run(R"(
[[geometry.solid]]
shape = "sphere"
mineral = "calcite"
center = [8.2, 8.1, 7.9]
radius = 4
[[geometry.solid]]
shape = "sphere"
mineral = "quartz"
center = [55.9, 8.3, 8.2]
radius = 4.5
[grid]
cells = [80, 16, 16]
size = [80, 16, 16]
periodic = [true, true, true]
[[walls.mineral]]
name = "calcite"
speed = 0.5
[time]
end = 6
)");
  EXPECT_LT(ran.last("calcite_area_m2"), 0.2 * ran.first("calcite_area_m2"));
  for (const double area : ran.columns.at("quartz_area_m2")) EXPECT_EQ(area, ran.first("quartz_area_m2"));
  EXPECT_EQ(ran.last("quartz_dissolved_m3"), 0.0);
}

// Calcite around a grain of quartz dissolves: quartz is what it were without, though the wall comes from above it.
TEST(MovingWalls, WhatStandsBelowWhatDissolves) {
  const PetscSession petsc;
  const std::string calcite = test::sphere_solid({8.2, 8.1, 7.9}, 5.3, "calcite"),
                    quartz = test::sphere_solid({10.4, 8.3, 8.2}, 3.6, "quartz"),
                    rest =
                        "[grid]\ncells = [20, 16, 16]\nsize = [20, 16, 16]\nperiodic = [true, true, true]\n"
                        "[[walls.mineral]]\nname = \"calcite\"\nspeed = 0.5\n[time]\nend = 20\n";
  const Ran ran = run(calcite + quartz + rest);
  const Ran alone = run(test::sphere_solid({1.0, 1.0, 1.0}, 0.9, "calcite") + quartz + rest);
  EXPECT_NEAR(ran.last("porosity"), alone.last("porosity"), 1e-7);
  EXPECT_NEAR(ran.last("quartz_area_m2"), alone.last("quartz_area_m2"), 1e-4);
  EXPECT_EQ(ran.last("calcite_area_m2"), 0.0);
}

// The same where the level set knows the wall of all minerals together: right to a cell where they touched.
TEST(MovingWalls, StandingMineralsOfOneLevelSet) {
  const Config config =
      test::config_of(test::sphere_solid({8.2, 8.1, 7.9}, 5.3, "calcite") +
                      test::sphere_solid({10.4, 8.3, 8.2}, 4.6, "quartz") + test::cells_along_x({20, 16, 16}));
  const std::unique_ptr<LevelSet> whole =
      make_described_level_set(config.geometry, 1.0, config.grid.size, config.grid.periodic);
  const StandingMinerals standing(*whole, {false, true}, 1.0);
  const auto phi = standing.local({0.0, 0.0, 0.0}, {20.0, 16.0, 16.0});
  const auto all = whole->local({0.0, 0.0, 0.0}, {20.0, 16.0, 16.0});
  for (double x = 0.3; x < 20.0; x += 0.37)
    for (double y = 0.2; y < 16.0; y += 0.41) {
      const Vec3 at{x, y, 8.0};
      const double quartz = norm(at - Vec3{10.4, 8.3, 8.2}) - 4.6, calcite = norm(at - Vec3{8.2, 8.1, 7.9}) - 5.3;
      if (std::abs(quartz - calcite) < 2.0) continue;           // beside both
      const bool is_quartz = quartz < 0.0 && quartz < calcite;  // where both are, it is that which is deeper inside
      if (std::abs(quartz) > 1.5) {
        EXPECT_EQ((*phi)(at) <= 0.0, is_quartz) << x << ' ' << y;
      }
      if (std::abs(quartz) < 0.4 && calcite > 2.0) {
        EXPECT_EQ((*phi)(at), (*all)(at)) << x << ' ' << y;
      }
    }
}

// A slab whose back is beyond the side of the domain dissolves from its face alone, also when it has become thin.
TEST(MovingWalls, TheBackOfASlabBeyondASide) {
  const PetscSession petsc;
  const Ran ran = run(R"(
[[geometry.solid]]
shape = "box"
lo = [-1, -9, -9]
hi = [6.3, 20, 20]
[grid]
cells = [16, 4, 4]
size = [16, 4, 4]
periodic = [false, true, true]
[[walls.mineral]]
speed = 0.2
[time]
end = 15
)");
  expect_balance(ran);
  EXPECT_NEAR(16.0 * (1.0 - ran.last("porosity")), 6.3 - 0.2 * 15.0, 1e-4);
}

// A grain that vanishes in the middle of a step, with no wall near it: its last part is owed by the walls that stay, so
// that no more dissolves than the rates say, and the fluid has what has moved.
TEST(MovingWallsMpi, TheLastOfAGrain) {
  const PetscSession petsc;
  const Ran ran = run(test::sphere_solid({6.5, 6.5, 6.5}, 2.3) + test::sphere_solid({22.2, 8.1, 7.9}, 5.4) +
                      "[grid]\ncells = [32, 16, 16]\nsize = [32, 16, 16]\nperiodic = [true, true, true]\n" +
                      "[walls]\ndisplacement = 1\n[[walls.mineral]]\nspeed = 1\n[time]\nend = 4\n");
  EXPECT_EQ(ran.result.json.at("walls").at("events").at("grains_vanished").get<int>(), 1);
  const auto of = [&](const char* name, std::size_t i) { return ran.columns.at(name)[i]; };
  for (std::size_t i = 1; i < ran.columns.at("time_s").size(); ++i) {
    const double dt = of("time_s", i) - of("time_s", i - 1);
    EXPECT_NEAR(of("dissolved_m3", i) - of("dissolved_m3", i - 1),
                0.5 * dt * (of("solid_rate_m3_s", i - 1) + of("solid_rate_m3_s", i)), 1e-6)
        << i;
    EXPECT_NEAR(8192.0 * (of("porosity", i) - of("porosity", 0)), of("moved_m3", i), 1e-7) << i;
  }
}

// A disc on a neck: the neck dissolves, and the disc leaves. All moles are accounted for, and what stays goes on as
// without a disc.
TEST(MovingWallsMpi, AFragmentIsCarriedAway) {
  const PetscSession petsc;
  const std::string base = R"(
[[geometry.solid]]
shape = "box"
lo = [-9, -9, -9]
hi = [40, 4.3, 9]
)";
  const std::string disc = R"(
[[geometry.solid]]
shape = "box"
lo = [12.8, 4, -9]
hi = [15.3, 15, 9]
[[geometry.solid]]
shape = "cylinder"
center = [14.1, 17.2, 0]
radius = 6.2
)";
  const std::string rest = R"(
[grid]
cells = [28, 28, 1]
size = [28, 28, 1]
periodic = [true, false, true]
box = 8
[[walls.mineral]]
speed = 0.2
molar_volume = 0.5
[walls]
fragments = "remove"
[time]
end = 12
)";
  const Ran ran = run(base + disc + rest);
  const Json &walls = ran.result.json.at("walls"), &was = walls.at("first"), &is = walls.at("last");
  EXPECT_EQ(walls.at("events").at("fragments_carried_away").get<int>(), 1);
  EXPECT_EQ(is.at("fragments").get<int>(), 0);
  const auto of = [](const Json& line, const char* key) { return line.at("minerals").at(0).at(key).get<double>(); };
  const double all = of(was, "volume_m3"), carried = of(is, "carried_away_m3");
  EXPECT_NEAR(of(is, "volume_m3") + of(is, "dissolved_m3") - is.at("owed_m3").get<double>() + carried, all,
              1e-12 * all);
  EXPECT_DOUBLE_EQ(of(is, "carried_away_mol"), carried / 0.5);
  for (const auto& event : ran.events)
    if (event[1] == "fragment carried away") {
      const double radius = 6.2 - 0.2 * std::stod(event[0]);
      EXPECT_NEAR(carried, std::numbers::pi * radius * radius, 0.06 * carried) << "with a rest of the neck";
      EXPECT_NEAR(std::stod(event[5]), carried, 5e-3 * carried);
    }
  EXPECT_NEAR(28.0 * (1.0 - ran.last("porosity")), 4.3 - 0.2 * 12.0, 0.06) << "1.6 cells of the corners at the neck";
}

// A throat that grows shut ends the run in order, with what came out until then.
TEST(MovingWalls, AThroatThatCloses) {
  const PetscSession petsc;
  const Ran ran = run(R"(
[[geometry.solid]]
shape = "cylinder"
inside = "fluid"
center = [8, 8, 8]
axis = [1, 0, 0]
radius = 4
[grid]
cells = [8, 16, 16]
size = [8, 16, 16]
periodic = [true, false, false]
[flow]
model = "stokes"
drive = "pressure-gradient"
gradient = [1, 0, 0]
axes = ["x"]
[[walls.mineral]]
speed = -0.5
[time]
end = 100
)");
  EXPECT_GT(ran.first("permeability_x_m2"), 0.0);
  // Poiseuille: the permeability goes with the fourth power of the radius.
  const std::vector<double>&k = ran.columns.at("permeability_x_m2"), &porosity = ran.columns.at("porosity");
  for (std::size_t i = 0; i < k.size() && porosity[i] > 0.08; ++i)
    EXPECT_NEAR(k[i] / k[0], std::pow(porosity[i] / porosity[0], 2), 0.03 * k[i] / k[0]) << i;
  ASSERT_FALSE(ran.result.warnings.empty());
  EXPECT_TRUE(test::has(ran.result.warnings.back(), "no pore percolates any more"));
  EXPECT_LT(ran.last("time_s"), 9.0);
}

// Stefan's problem: a wall where c = 0 recedes before diffusion, s = 2 λ √(D t), √π λ exp(λ²) erfc(λ) = -St, St = V c0
// (verified by substitution); the field begins uniform, and the first half cell dissolves within a few steps. In time,
// as the wall is as fast as the front. Errors of the growth of s² from t = 20 on.
TEST(MovingWalls, AWallThatTheFrontMoves) {
  const PetscSession petsc;
  for (const auto& [stefan, lambda] : {std::pair(0.1, 0.053083565), std::pair(0.5, 0.216878872)}) {
    const Ran ran = run(test::cells_along_x({80, 4, 4}) + fmt::format(R"(
[[geometry.solid]]
shape = "plane"
point = [8.37, 0, 0]
normal = [1, 0, 0]
[transport]
axis = "x"
[[transport.component]]
name = "acid"
diffusivity = 1
outlet = 1
initial = 1
[[transport.wall]]
rate = 1e4
[[walls.mineral]]
molar_volume = {}
[time]
end = 80
dt = 0.5
)",
                                                                      stefan));
    expect_balance(ran, 0.3);
    const auto s_at = [&](double t) {
      const std::vector<double>& time = ran.columns.at("time_s");
      const auto i = std::ranges::lower_bound(time, t - 1e-9) - time.begin();
      return ran.columns.at("dissolved_m3")[i] / 16.0;
    };
    const double growth = s_at(80.0) * s_at(80.0) - s_at(20.0) * s_at(20.0);
    EXPECT_NEAR(growth / (4.0 * lambda * lambda * 60.0), 1.0, 0.025) << stefan;
    EXPECT_NEAR(s_at(80.0), 2.0 * lambda * std::sqrt(80.0), 0.06) << stefan;
    test::expect_conserved_and_bounded(ran.transport, "acid");
  }
}

// Acid that flows past a grain dissolves it while it breaks through: transport conserves in each step and keeps its
// bounds on every ground, and the flow is that of the ground.
TEST(MovingWallsMpi, AGrainInAFlow) {
  const PetscSession petsc;
  const Ran ran = run(test::sphere_solid({8.3, 4.1, 3.9}, 3) + test::cells_along_x({24, 8, 8}) + "box = 8\n" +
                      test::estimated_flow + R"(
[transport]
diffusivity = 0.5
[[transport.component]]
name = "acid"
inlet = 1
[[transport.wall]]
rate = 0.5
[[walls.mineral]]
molar_volume = 0.2
[time]
end = 60
)");
  expect_balance(ran, 0.3);
  EXPECT_GT(ran.last("dissolved_m3"), 20.0);
  EXPECT_GT(ran.last("permeability_x_m2"), 1.1 * ran.first("permeability_x_m2"));
  test::expect_conserved_and_bounded(ran.transport, "acid");
}

// Between given pressures the fluid is faster where the rock has dissolved. Pore volumes are those of the beginning, so
// that they flow in as fast as the permeability grows.
TEST(MovingWalls, PoreVolumesThatHaveFlowedIn) {
  const PetscSession petsc;
  const Ran ran = run(test::sphere_solid({8.3, 4.1, 3.9}, 3) + test::cells_along_x({24, 8, 8}) + R"(box = 8
[flow]
model = "stokes"
drive = "pressure-drop"
pressure_drop = 0.005
axes = ["x"]
estimate_error = false
[transport]
diffusivity = 0.5
[[transport.component]]
name = "acid"
inlet = 1
[[transport.wall]]
rate = 0.5
[[walls.mineral]]
molar_volume = 0.2
[time]
end = 20
)");
  const std::vector<double>&volumes = ran.transport.at("pore_volumes"), &time = ran.transport.at("time_s");
  const auto flow_in = [&](std::size_t to) { return (volumes[to] - volumes[to - 1]) / (time[to] - time[to - 1]); };
  const double grown = ran.last("permeability_x_m2") / ran.first("permeability_x_m2");
  EXPECT_GT(grown, 1.2);
  EXPECT_NEAR(flow_in(volumes.size() - 1) / flow_in(1), grown, 0.02 * grown);
}

// The run ends with the step that reaches the condition, and without a warning.
TEST(MovingWalls, EndsByACondition) {
  const PetscSession petsc;
  const std::string walls = "[[walls.mineral]]\nspeed = 0.5\n[time]\nend = 100\n[walls]\nuntil = ";
  const Ran ran = run(std::string(sphere) + walls + "\"porosity > 0.97\"\n");
  const std::vector<double>& porosity = ran.columns.at("porosity");
  EXPECT_GT(porosity.back(), 0.97);
  EXPECT_LT(porosity[porosity.size() - 2], 0.97);
  EXPECT_TRUE(ran.result.warnings.empty());
  EXPECT_FALSE(parse_walls_end("permeability < first * 0.5").reached(4.0, 2.1));
  EXPECT_TRUE(parse_walls_end("permeability<0.5*first").reached(4.0, 1.9));
  EXPECT_TRUE(parse_walls_end("porosity > 1e-1").reached(4.0, 0.2));
  // Half of the way to ten times a permeability is its 10^1/2-fold.
  EXPECT_NEAR(parse_walls_end("permeability > 10 * first").part(4.0, 4.0 * std::sqrt(10.0)), 0.5, 1e-14);
  EXPECT_NEAR(parse_walls_end("porosity < 0.1").part(0.3, 0.25), 0.25, 1e-14);
  for (const char* wrong : {"", "porosity", "tortuosity > 1", "porosity = 1", "porosity > x", "porosity > 2 * last",
                            "porosity > 2 first", "porosity > -1"})
    EXPECT_TRUE(test::has(test::error_of([&] { parse_walls_end(wrong); }), "is no condition")) << wrong;
  EXPECT_TRUE(test::has(test::error_of([&] { run(std::string(sphere) + walls + "\"permeability > 2\"\n"); }),
                        "there is no permeability"));
}

/// Lines about this.
std::vector<std::vector<std::string>> events_of(const Ran& ran, const std::string& what) {
  std::vector<std::vector<std::string>> found;
  for (const auto& line : ran.events)
    if (line.at(1) == what) found.push_back(line);
  return found;
}
double number(const std::vector<std::string>& line, std::size_t column) { return std::stod(line.at(column)); }

// A grain of quartz that a rod of calcite, radius 2, holds on to a side of the domain comes loose when the rod is
// dissolved; another grain of calcite, radius 3, vanishes. Steps are 0.5 long.
TEST(MovingWallsMpi, AFragmentThatComesLoose) {
  const PetscSession petsc;
  const Ran ran = run(R"(
[[geometry.solid]]
shape = "sphere"
mineral = "quartz"
center = [12.2, 11.9, 12.3]
radius = 4
[[geometry.solid]]
shape = "cylinder"
mineral = "calcite"
center = [0, 12.1, 12.2]
axis = [1, 0, 0]
radius = 2
length = 17.4
[[geometry.solid]]
shape = "sphere"
mineral = "calcite"
center = [20.2, 4.9, 18.3]
radius = 3
[grid]
cells = [24, 24, 24]
size = [24, 24, 24]
box = 8
[[walls.mineral]]
name = "calcite"
speed = 1
[time]
end = 6
)");
  ASSERT_EQ(join(ran.events.at(0)), "time_s, what, x_m, y_m, z_m, volume_m3, pore_volumes");
  const double quartz = 4.0 / 3.0 * std::numbers::pi * 64.0;
  const auto loose = events_of(ran, "fragment loose"), vanished = events_of(ran, "grain vanished");
  ASSERT_EQ(loose.size(), 1U);
  EXPECT_NEAR(number(loose[0], 0), 2.0, 0.75);
  EXPECT_NEAR(number(loose[0], 2), 12.2, 0.2);  // some of it dissolves where the rod stood
  EXPECT_NEAR(number(loose[0], 3), 11.9, 0.1);
  EXPECT_NEAR(number(loose[0], 4), 12.3, 0.1);
  EXPECT_NEAR(number(loose[0], 5), quartz, 0.07 * quartz);
  ASSERT_GE(vanished.size(), 1U);
  EXPECT_NEAR(number(vanished[0], 0), 3.0, 0.75);
  EXPECT_EQ(ran.first("fragments"), 1.0);  // the other grain
  EXPECT_EQ(ran.last("fragments"), 1.0);
  EXPECT_NEAR(ran.last("fragment_volume_m3"), quartz, 0.07 * quartz);
  EXPECT_NEAR(ran.last("quartz_volume_m3"), quartz, 0.07 * quartz);
  EXPECT_NEAR(ran.last("calcite_volume_m3"), 0.0, 0.07 * quartz);
  const Json& walls = ran.result.json.at("walls");
  EXPECT_EQ(walls.at("events").at("fragments_loose").get<int>(), 1);
  ASSERT_EQ(walls.at("fragments").size(), 1U);
  EXPECT_NEAR(walls.at("fragments").at(0).at("loose_since_s").get<double>(), number(loose[0], 0), 1e-9);
  EXPECT_TRUE(test::has(ran.result.text, "fragments of solid that came loose"));
}

// Two chambers, radii 6 and 3, with a channel of radius 1.2 between them and one of radius 4 to the side: the smaller
// chamber is cut off as walls grow, and filled; then the larger one is cut off. Where walls dissolve that began 2
// farther in the fluid, the chambers open to the side and to one another.
TEST(MovingWalls, PoresThatCloseAndOpenAloneByDay) {
  const PetscSession petsc;
  const auto deck = [](double wider, double speed) {
    const auto body = [&](const char* shape, const char* place, double radius) {
      return fmt::format("[[geometry.solid]]\nshape = \"{}\"\ninside = \"fluid\"\n{}\nradius = {}\n", shape, place,
                         radius + wider);
    };
    const std::string channel = body("cylinder", "center = [16, 12.1, 12.3]\naxis = [1, 0, 0]\nlength = 12", 1.2);
    const std::string chambers = body("sphere", "center = [10, 12.1, 12.2]", 6.0) +
                                 body("sphere", "center = [22, 12.2, 12.1]", 3.0) + (wider < 0.0 ? "" : channel) +
                                 body("cylinder", "center = [0, 12.1, 12.3]\naxis = [1, 0, 0]\nlength = 20", 4.0);
    return "geometry.operation = \"intersection\"\n" + chambers +
           fmt::format(
               "[grid]\ncells = [28, 24, 24]\nsize = [28, 24, 24]\nbox = 8\n[[walls.mineral]]\nspeed = {}\n"
               "[time]\nend = 4\ndt = 0.25\n",
               speed);
  };
  const Ran grows = run(deck(0.0, -1.0));
  const auto cut_off = events_of(grows, "pore cut off"), filled = events_of(grows, "pore filled");
  ASSERT_EQ(cut_off.size(), 2U);
  EXPECT_NEAR(number(cut_off[0], 0), 1.2, 0.3);
  EXPECT_NEAR(number(cut_off[0], 2), 22.0, 0.2);
  EXPECT_NEAR(number(cut_off[0], 5), 4.0 / 3.0 * std::numbers::pi * std::pow(3.0 - number(cut_off[0], 0), 3), 3.0);
  EXPECT_NEAR(number(cut_off[1], 0), 4.0, 0.5);
  EXPECT_NEAR(number(cut_off[1], 2), 10.0, 0.4);
  ASSERT_EQ(filled.size(), 1U);
  EXPECT_NEAR(number(filled[0], 0), 3.0, 0.3);

  const Ran dissolves = run(deck(-2.0, 1.0));
  const auto opened = events_of(dissolves, "pore opened");
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_NEAR(number(opened[0], 2), 22.0, 0.2);
  const double r = std::cbrt(number(opened[0], 5) * 0.75 / std::numbers::pi), t = number(opened[0], 0);
  EXPECT_NEAR(t, 3.5, 0.6);
  EXPECT_NEAR(r, 1.0 + t - 0.25, 0.27);  // before the motion that opened it
}

// A wall that grows at 0.1 m/s from x = 8.37 on buries a probe at x = 10, which shows nothing from then on; one that
// recedes uncovers a probe at x = 7.
TEST(MovingWalls, ProbesThatAWallBuriesAndUncovers) {
  const PetscSession petsc;
  for (const auto& [speed, place, passes] : {std::tuple(-0.1, 10.0, 16.3), std::tuple(0.1, 7.0, 13.7)}) {
    const Ran ran = run(fmt::format(R"(
[[geometry.solid]]
shape = "plane"
point = [8.37, 0, 0]
normal = [1, 0, 0]
[grid]
cells = [32, 4, 4]
size = [32, 4, 4]
periodic = [false, true, true]
[transport]
axis = "x"
[[transport.component]]
name = "acid"
diffusivity = 1
outlet = 1
initial = 1
[[output.probe]]
name = "there"
position = [{}, 2, 2]
[[walls.mineral]]
speed = {}
[time]
end = 30
dt = 0.5
)",
                                    place, speed));
    const std::vector<double>&time = ran.transport.at("time_s"), &value = ran.transport.at("acid_at_there");
    ASSERT_EQ(time.size(), value.size());
    for (std::size_t i = 0; i < time.size(); ++i) {
      if (std::abs(time[i] - passes) < 8.0) continue;  // walls move by up to half a cell at once
      EXPECT_EQ(std::isfinite(value[i]), (time[i] < passes) == (speed < 0.0)) << speed << ' ' << time[i];
      EXPECT_NEAR(std::isfinite(value[i]) ? value[i] : 1.0, 1.0, 1e-9);
    }
  }
}

// Fluid enters a channel between walls that grow with the velocity of the deck wherever the inlet is still open.
TEST(MovingWalls, AnInletThatWallsMakeNarrower) {
  const PetscSession petsc;
  const Ran ran = run(R"(
[[geometry.solid]]
shape = "plane"
point = [0, 2.3, 0]
normal = [0, 1, 0]
[[geometry.solid]]
shape = "plane"
point = [0, 13.6, 0]
normal = [0, -1, 0]
[grid]
cells = [16, 16, 4]
size = [16, 16, 4]
periodic = [false, false, true]
[flow]
model = "stokes"
[[flow.inlet]]
side = "-x"
velocity = 1e-3
[[walls.mineral]]
speed = -0.1
[time]
end = 8
)");
  const double width = 16.0 * ran.last("porosity");
  EXPECT_NEAR(width, 11.3 - 1.6, 1e-12);
  const double flow_rate = ran.result.json.at("inlet_flow").at("flow_rate_m3_s");
  EXPECT_NEAR(flow_rate, 1e-3 * 4.0 * width, 1e-12 * flow_rate);
}

TEST(MovingWalls, MistakesOfADeck) {
  const PetscSession petsc;
  const std::string deck = std::string(sphere) + "[time]\nend = 6\n[[walls.mineral]]\n";
  EXPECT_TRUE(test::has(test::error_of([&] { run(deck + "name = \"quartz\"\nspeed = 1\n"); }),
                        "\"quartz\" is no mineral of the geometry"));
  EXPECT_TRUE(test::has(test::error_of([&] { run(deck); }), "molar_volume"));
  EXPECT_TRUE(test::has(test::error_of([&] { run("geometry.keep = \"largest\"\n" + deck + "speed = 0.5\n"); }),
                        "geometry.keep"));
  std::string inert = slab;
  inert.resize(inert.find("[[transport.wall]]"));
  EXPECT_TRUE(test::has(test::error_of([&] { run(inert + "[time]\nend = 1\n[[walls.mineral]]\nmolar_volume = 1\n"); }),
                        "no [[transport.wall]] acts"));
  EXPECT_TRUE(test::has(test::error_of([&] { run(deck + "molar_volume = 1\n"); }), "nothing dissolves the mineral"));
  const std::string removing = deck + "name = \"calcite\"\nspeed = 1\n[walls]\nfragments = \"remove\"\n";
  EXPECT_TRUE(test::has(test::error_of([&] {
                          run(test::sphere_solid({4, 4, 4}, 2.0, "calcite") + removing);
                        }),
                        "needs all minerals to move, and the walls of solid stand"));
  EXPECT_TRUE(test::has(test::error_of([&] { run(removing + "[[grid.refine]]\nlevel = 1\nwhere = \"wall\"\n"); }),
                        "\"remove\" is not possible on refined grids"));
}

}  // namespace
}  // namespace karst::moving_walls_test
