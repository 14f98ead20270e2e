// SPDX-License-Identifier: BSD-3-Clause
// A grid that follows the front of a tracer through a duct with two grains, beside one with the fine level everywhere.
#include "app/run/follow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/run/simulation.hpp"
#include "base/deck/deck.hpp"
#include "support/csv_file.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"

namespace karst::follow_test {
namespace {

const std::string duct = test::sphere_solid({9, 3, 3}, 2.5) + test::sphere_solid({21, 6.1, 5.3}, 2) +
                         test::cells_along_x({32, 8, 8}) + "box = 8\nlevels = 2\n";
constexpr const char* pulse = R"(
[time]
end_pore_volumes = 0.45
[transport]
diffusivity = 0.01
[[transport.component]]
name = "dye"
inlet = "t < 4 ? 1 : 0"
)";
constexpr const char* front = R"(
[[grid.refine]]
where = "front"
low = 0.02
high = 0.98
)";
constexpr const char* everywhere = R"(
[[grid.refine]]
where = "region"
lo = [0, 0, 0]
hi = [32, 8, 8]
)";

std::unique_ptr<LevelSet> two_grains() { return test::grains({{{9.0, 3.0, 3.0}, 2.5}, {{21.0, 6.1, 5.3}, 2.0}}); }

struct Ran {
  std::map<std::string, std::vector<double>> columns;  ///< of transport.csv
  std::map<std::string, std::vector<double>> flow;     ///< of history.csv, of a transient flow
  FollowedGrid followed;
  std::size_t levels_at_end = 0;
  std::int64_t unknowns_at_end = 0;
};

/// @param folder  where checkpoints stay; empty: none are written
/// @param resume  from the last one there
Ran run(const std::string& deck, const std::string& folder = "", bool resume = false) {
  const Config config = test::config_of(deck);
  test::JobCase run(config.grid, *two_grains());
  run.config = config;
  std::vector<Job> all{flow_job()};
  if (config.transport.asked()) all.push_back(transport_job());
  if (!folder.empty()) {
    run.services.solved = {run.comm, folder + "/solves", deck, resume};
    run.services.files.path = [&](const std::string& name) { return folder + "/" + name; };
  }
  run.services.exchanges.taken = taken_by(all, run.config);
  KeptBoxes kept;
  run.context.make_ground = [&](const GridOptions& grid, const BoxCosts& costs) {
    Geometry geometry = build_geometry(run.comm, grid, *two_grains(), KeepPores::all, ControlVolumes::home_cells, costs,
                                       {&kept, &run.context.geometry()});
    std::vector<LevelReport> levels = std::move(geometry.report.levels);
    geometry.report = run.context.geometry().report;
    geometry.report.levels = std::move(levels);
    return std::make_shared<const Ground>(run.comm, std::move(geometry));
  };
  check_jobs(run.context);
  Simulation(run.context, all).run([](const JobResult&) {});
  run.comm.any(false);
  Ran ran;
  ran.followed = run.services.followed;
  ran.levels_at_end = run.context.geometry().levels.size();
  ran.unknowns_at_end = unknowns_of(run.context.geometry().report);
  if (config.transport.asked()) ran.columns = test::read_columns(run.services.files.path("transport.csv"));
  if (is_in_time(config.flow.model)) ran.flow = test::read_columns(run.services.files.path("history.csv"));
  return ran;
}

std::int64_t unknowns_on(const GridOptions& grid) {
  return unknowns_of(build_geometry(Comm::world(), grid, *two_grains(), KeepPores::all).report);
}

/// A column between the steps.
double at(const Ran& ran, const std::string& column, double time) {
  const std::vector<double>&t = ran.columns.at("time_s"), &y = ran.columns.at(column);
  const std::size_t i = std::max<std::ptrdiff_t>(1, std::ranges::lower_bound(t, time) - t.begin());
  return y[i - 1] + (time - t[i - 1]) / (t[i] - t[i - 1]) * (y[i] - y[i - 1]);
}

// It refines what comes in and leaves what has gone by; each step is bounded and conserves; means are those of the fine
// grid, of which it has a part of the cells, and far from those of the coarse one.
TEST(FollowMpi, AFrontIsFollowed) {
  const std::string flow = test::creeping_flow + pulse;
  std::string coarse_deck = duct + flow;
  coarse_deck.replace(coarse_deck.find("levels = 2"), 10, "levels = 1");
  const Ran fine = run(duct + everywhere + flow), coarse = run(coarse_deck), followed = run(duct + front + flow);
  EXPECT_GE(followed.followed.changes, 4);
  EXPECT_EQ(followed.followed.steps, std::ssize(followed.columns.at("time_s")));
  EXPECT_EQ(fine.followed.steps, 0);
  EXPECT_EQ(followed.levels_at_end, 2U);
  const double cells_of_fine = 8.0 * 32 * 8 * 8;
  EXPECT_LT(followed.followed.mean(), 0.6 * cells_of_fine);
  EXPECT_LT(static_cast<double>(followed.followed.most), 0.8 * cells_of_fine);
  test::expect_conserved_and_bounded(followed.columns, "dye");
  double of_coarse = 0.0, of_followed = 0.0;
  for (double t = 5.0; t < 25.0; t += 5.0) {
    of_coarse = std::max(of_coarse, std::abs(at(coarse, "dye_max", t) - at(fine, "dye_max", t)));
    of_followed = std::max(of_followed, std::abs(at(followed, "dye_max", t) - at(fine, "dye_max", t)));
    EXPECT_NEAR(at(followed, "dye_mean", t), at(fine, "dye_mean", t), 2e-3 * at(fine, "dye_mean", t)) << t;
  }
  EXPECT_LT(of_followed, 0.05 * of_coarse) << of_followed << ", " << of_coarse;
}

// The flow begins at rest and goes through time on the grid that follows: velocity and front are those of the fine
// grid.
TEST(Follow, AFrontThatATransientFlowCarriesAloneByDay) {
  const std::string flow = R"(
[fluid]
viscosity = 0.2
density = 1
[flow]
model = "navier-stokes"
drive = "pressure-drop"
pressure_drop = 0.5
axes = ["x"]
[time]
end = 40
cfl = 0.8
[transport]
diffusivity = 0.01
[[transport.component]]
name = "dye"
inlet = "t < 15 ? 1 : 0"
)";
  std::string coarse_deck = duct + flow;
  coarse_deck.replace(coarse_deck.find("levels = 2"), 10, "levels = 1");
  const Ran fine = run(duct + everywhere + flow), coarse = run(coarse_deck), followed = run(duct + front + flow);
  EXPECT_GE(followed.followed.changes, 3);
  test::expect_conserved_and_bounded(followed.columns, "dye");
  // Where the front has gone by the flow is that of coarse cells again.
  const auto velocity = [](const Ran& ran) { return ran.flow.at("darcy_velocity_x_m_s").back(); };
  EXPECT_LT(std::abs(velocity(followed) - velocity(fine)), std::abs(velocity(coarse) - velocity(fine)));
  for (double t = 10.0; t < 40.0; t += 10.0) {
    EXPECT_NEAR(at(followed, "dye_mean", t), at(fine, "dye_mean", t), 5e-3 * at(fine, "dye_mean", t)) << t;
    EXPECT_NEAR(at(followed, "dye_max", t), at(fine, "dye_max", t), 0.04 * at(fine, "dye_max", t)) << t;
    EXPECT_LT(at(coarse, "dye_max", t), 0.8 * at(fine, "dye_max", t)) << t;
  }
}

// What has gone by is coarse again: dye that decays leaves the grid as it would be without it.
TEST(Follow, WhatHasGoneByIsCoarseAgainAloneByDay) {
  const std::string deck = duct + front + test::creeping_flow + pulse + "decay = 0.4\n";
  const GridOptions coarse = with_flagged(test::config_of(deck).grid, FlaggedBoxes());
  const Ran followed = run(deck);
  EXPECT_EQ(followed.unknowns_at_end, unknowns_on(coarse));
  EXPECT_GT(followed.followed.most, 2 * followed.unknowns_at_end);
}

// The limit is kept in every step, and said; boxes that were left out are the same on any ranks and behind a
// checkpoint: the same bits.
TEST(FollowMpi, ALimitIsKept) {
  std::string deck =
      duct + "max_cells = 6000\n" + front + test::creeping_flow + pulse + "[checkpoint]\nevery_steps = 7\n";
  deck.replace(deck.find("end_pore_volumes = 0.45"), 23, "end_pore_volumes = 0.2\ncfl = 0.3");
  const test::SharedDirectory folder(Comm::world());
  const Ran whole = run(deck, folder.path()), again = run(deck, folder.path(), true);
  EXPECT_EQ(whole.followed.most, 5657);  // on any number of ranks, as the next
  EXPECT_EQ(whole.followed.changes, 2);
  EXPECT_GT(whole.followed.limited_steps, 10);
  EXPECT_LT(whole.followed.changes, whole.followed.steps / 5);
  test::expect_conserved_and_bounded(whole.columns, "dye");
  Json left = whole.followed.state(), left_again = again.followed.state();
  left[1] = left_again[1] = 0.0;  // seconds
  EXPECT_EQ(left_again.dump(), left.dump());
  EXPECT_EQ(again.columns, whole.columns);
}

TEST(Follow, ALimitBelowTheOtherLevelsIsAnError) {
  const std::string flow = test::creeping_flow + pulse;
  EXPECT_PRED2(test::has, test::error_of([&] { run(duct + "max_cells = 1000\n" + front + flow); }),
               "before it follows anything");
  EXPECT_PRED2(test::has, test::error_of([&] { run(duct + "max_cells = 4000\n" + everywhere + flow); }), "of level 1");
}

/// A formula is that of the region which it describes.
TEST(Follow, AFormulaOfThePlaceIsARegion) {
  std::string flow = test::creeping_flow + pulse;
  flow.replace(flow.find("0.45"), 4, "0.05");
  const Ran formula =
      run(duct + "[[grid.refine]]\nwhere = \"formula\"\nformula = \"x > 8 && x < 16 && t < 1e9\"\nbuffer = 0\n" + flow);
  const GridOptions region = test::refined_in(with_flagged(test::config_of(duct + front + flow).grid, FlaggedBoxes()),
                                              1, {8, 0, 0}, {16, 8, 8});
  EXPECT_EQ(formula.followed.changes, 0);
  EXPECT_EQ(formula.unknowns_at_end, unknowns_on(region));
}

// A transient flow alone: from rest on, fast water between grain and side is refined, and not what is far from grains.
TEST(Follow, AFlowIsFollowedByItsSpeed) {
  const Ran ran = run(duct + R"(
[[grid.refine]]
where = "speed"
above = 1.5
keep = 1.3
relative = true
buffer = 0
[fluid]
viscosity = 1
density = 1
[flow]
model = "unsteady-stokes"
drive = "pressure-drop"
pressure_drop = 0.5
axes = ["x"]
[time]
end = 6
dt = 2
)");
  const GridOptions coarse =
                        with_flagged(test::config_of(duct + front + test::creeping_flow + pulse).grid, FlaggedBoxes()),
                    near =
                        test::refined_in(test::refined_in(coarse, 1, {4, 0, 0}, {16, 8, 8}), 1, {16, 0, 0}, {28, 8, 8});
  EXPECT_GE(ran.followed.changes, 1);
  EXPECT_GT(ran.unknowns_at_end, unknowns_on(coarse));
  EXPECT_LT(ran.unknowns_at_end, unknowns_on(near));
}

// Grains that take up dye are refined once dye has come: of the first grain, not of the one further on.
TEST(Follow, ReactingWallsAreRefined) {
  std::string deck = duct + "[[grid.refine]]\nwhere = \"rate\"\nabove = 1e-3\nbuffer = 0\n" + test::creeping_flow +
                     pulse + "[[transport.wall]]\nrate = 0.01\n";
  deck.replace(deck.find("end_pore_volumes = 0.45"), 23, "end_pore_volumes = 0.3");
  const Ran ran = run(deck);
  const GridOptions coarse = with_flagged(test::config_of(deck).grid, FlaggedBoxes()),
                    first = test::refined_in(coarse, 1, {4, 0, 0}, {12, 8, 8});
  EXPECT_GE(ran.followed.changes, 1);
  EXPECT_GT(ran.unknowns_at_end, unknowns_on(coarse));
  EXPECT_LE(ran.followed.most, unknowns_on(first));
}

}  // namespace
}  // namespace karst::follow_test
