// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/run_progress.hpp"

#include <gtest/gtest.h>

#include "app/estimate/time_estimate.hpp"
#include "base/comm/parallel.hpp"

#include <cmath>
#include <mutex>

namespace karst::run_progress_test {
namespace {

/// Parts that take `slow` times as long as expected, each told in tenths.
/// @param see  at every tenth: seconds since the start, and in all
template <class F>
void run_through(RunClock& clock, const std::vector<RunPart>& parts, double slow, F&& see) {
  double all = 0.0, now = 100.0;
  for (const RunPart& p : parts) all += slow * p.seconds;
  for (const RunPart& p : parts) {
    clock.begin(p.stage, now);
    for (int tenth = 0; tenth < 10; ++tenth) {
      clock.set_fraction(0.1 * tenth);
      see(now - 100.0, all);
      now += 0.1 * slow * p.seconds;
    }
  }
}

const std::vector<RunPart> parts{{"import", 3.0}, {"geometry", 2.0}, {"flow", 10.0},
                                 {"flow", 10.0},  {"flow", 1.0},     {"output", 1.0}};

TEST(RunClock, TellsTheTimeLeftOfTheWholeRunWhateverTheMachine) {
  for (const double slow : {0.01, 1.0, 300.0}) {
    RunClock clock(parts);
    double before = 0.0;
    int known = 0;
    run_through(clock, parts, slow, [&](double gone, double all) {
      const double now = 100.0 + gone, left = clock.left(now), part = clock.part(now);
      EXPECT_GE(part, before);
      before = part;
      if (std::isnan(left)) return;
      ++known;
      EXPECT_NEAR(left, all - gone, 1e-9 * all) << gone << " of " << all;
      EXPECT_NEAR(part, gone / all, 1e-9);
    });
    EXPECT_GE(known, 55) << slow;
    EXPECT_GT(before, 0.95);
  }
}

// Solves that take twice as long as all else make expect the same of the solves that come.
TEST(RunClock, PartsThatAreDoneCorrectThoseOfTheSameStage) {
  RunClock clock(parts);
  clock.begin("import", 0.0);
  clock.begin("geometry", 3.0);
  clock.begin("flow", 5.0);
  EXPECT_NEAR(clock.left(5.0), 22.0, 1e-12);
  clock.begin("flow", 25.0);                                             // 20 s and not 10
  EXPECT_NEAR(clock.left(25.0), 20.0 + 2.0 + 1.0 * 25.0 / 15.0, 1e-12);  // output: as the run so far
  clock.set_fraction(0.5);
  EXPECT_NEAR(clock.left(35.0), 10.0 + 2.0 + 1.0 * 35.0 / 20.0, 1e-12);
}

TEST(RunClock, WhatDoesNotTellHowFarItIsGoesByTheTimeExpectedOfIt) {
  RunClock clock(parts);
  clock.begin("import", 0.0);
  EXPECT_TRUE(std::isnan(clock.left(0.0)));
  EXPECT_NEAR(clock.part(1.5), 1.5 / 27.0, 1e-9);
  EXPECT_GT(clock.left(100.0), 0.0);  // and never says that it is done
  EXPECT_LT(clock.part(1000.0), 1.0);
}

TEST(RunClock, PartsMayBeLeftOutAndOthersComeUnexpected) {
  RunClock clock(parts);
  clock.begin("geometry", 0.0);  // no import
  clock.begin("flow", 2.0);
  clock.begin("output", 12.0);  // one axis percolates
  EXPECT_NEAR(clock.left(12.0), 1.0, 1e-12);
  clock.begin("pictures", 12.5);
  EXPECT_NEAR(clock.left(13.0), 0.0, 1e-12);
}

TEST(RunClock, ExpectationsMayChange) {
  RunClock clock(parts);
  clock.begin("import", 0.0);
  clock.begin("geometry", 3.0);
  std::vector<RunPart> larger = parts;
  for (RunPart& p : larger) p.seconds *= 10.0;
  clock.expect(larger);  // the part that runs stays
  clock.begin("flow", 5.0);
  EXPECT_NEAR(clock.left(5.0), 220.0, 1e-9);
}

TEST(RunClock, AnotherNumberOfPartsMayBeExpected) {
  RunClock clock(parts);
  clock.begin("import", 0.0);
  clock.begin("geometry", 3.0);
  clock.expect({{"import", 3.0}, {"geometry", 2.0}, {"flow", 10.0}, {"output", 1.0}});
  clock.begin("flow", 5.0);
  EXPECT_NEAR(clock.left(5.0), 11.0, 1e-9);
}

// One mechanism: the parts add up to what `karst check` would say with the same paces.
TEST(RunProgress, PartsAddUpToTheEstimateOfTheTime) {
  Config config;
  config.flow.model = FlowModel::steady;
  config.flow.steps = {1.0, 10.0};
  config.flow.reservoir = 4;
  config.diffusion.axes = {0, 1};
  config.cells_given = true;
  config.grid.cells = Index::all(64);
  config.output.plot.clear();
  const std::vector<Job> all(jobs().begin(), jobs().end());
  const RunSize size = size_before(config);
  MachinePace pace{usual_geometry_pace.linking, {}};
  RunEstimate run;
  run.grid = size.grid;
  run.counts = size.counts;
  run.jobs = all;
  run.sample.levels.resize(1);
  run.sample.levels[0].candidates = size.counts.boxes;
  run.sample.seconds_per_box = n_threads() * usual_geometry_pace.per_box;
  run.sample.seconds_per_cut_cell = n_threads() * usual_geometry_pace.per_cut_cell;
  for (const Job& job : all) {
    pace.jobs.push_back(job.cost.usual_pace);
    run.memory.jobs.push_back(job.cost.plan(config, size.grid));
  }
  run.memory.n_components = n_plotted(config, all);
  double estimated = 0.0, expected = 0.0;
  for (const TimePart& p : time_parts(pace, run, 1)) estimated += p.seconds;
  for (const RunPart& p : parts_of_run(config, all, size)) expected += p.seconds;
  EXPECT_NEAR(expected, estimated, 1e-9 * estimated);
}

TEST(RunProgress, AThreadMovesTheLine) {
  std::mutex mutex;
  std::vector<std::string> lines;
  double time = 0.0;
  {
    RunProgress progress(Comm::self(), parts,
                         {true, 80,
                          [&](const std::string& text) {
                            const std::lock_guard lock(mutex);
                            lines.push_back(text);
                          },
                          [&] {
                            const std::lock_guard lock(mutex);
                            return time += 0.15;
                          }});
    progress.begin("import", "import");
    std::this_thread::sleep_for(std::chrono::milliseconds(450));
  }
  ASSERT_GE(lines.size(), 2U);
  EXPECT_NE(lines[0].find("% "), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("import"), std::string::npos);
  EXPECT_EQ(lines.back(), "\r\033[K");
}

TEST(RunProgress, PartsFollowTheDeck) {
  Config config;
  config.flow.model = FlowModel::stokes;
  config.flow.axes = {0, 2};
  config.diffusion.axes = {1};
  config.cells_given = true;
  config.grid.cells = Index::all(96);
  const auto count = [&](const char* stage) {
    const std::vector<RunPart> all = parts_of_run(config, {jobs().begin(), jobs().end()}, size_before(config));
    return std::ranges::count(all, stage, &RunPart::stage);
  };
  EXPECT_EQ(count("import"), 0);
  EXPECT_EQ(count("flow"), 7);       // two axes, on three grids, and what comes behind
  EXPECT_EQ(count("diffusion"), 4);  // likewise, of one axis
  config.flow.estimate_error = false;
  config.flow.uncertainty = true;
  EXPECT_EQ(count("flow"), 7);
  config.geometry.image = "rock.tif";
  EXPECT_EQ(count("import"), 1);
}

}  // namespace
}  // namespace karst::run_progress_test
