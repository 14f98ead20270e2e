// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <tuple>

#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "base/file/plain_file.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::recorder_test {
namespace {

/// A process that only counts: its state is the number of its steps, its field is that number, too.
struct Counting {
  /// @param folder   of the checkpoints and, with /NAME behind it, of the histories
  /// @param n_steps  that are known in advance; 0: none
  Counting(const Comm& of, const std::string& folder, bool resume, double n_steps, int first_state = 1)
      : comm(of), recorder(context, "count", {{"n.csv", "n\n"}}) {
    services.solved = SolveStore(of, folder, "", resume);
    services.files.path = [folder](const std::string& name) { return folder + "_" + name; };
    recorder.expect(n_steps, first_state);
    const auto kept = services.solved.load(
        "count", "", [&](const VofFile&, const Json& state) { recorder.bring_files(state.at("recorded")); });
    goes_on = kept.has_value();
    if (!goes_on) {
      recorder.begin();
      return;
    }
    recorder.go_on(kept->at("recorded"));
    steps = kept->at("steps");
    charted = kept->at("charted").get<std::vector<int>>();
  }
  void step(double part, bool last) {
    ++steps;
    recorder.append("n.csv", std::to_string(steps) + '\n');
    if (recorder.take_step(10.0 * part, part, last)) charted.push_back(steps);
    if (recorder.frame_due(part)) recorder.add_frame(view(), std::vector<std::string>{"n"}, 0);
    recorder.tell(part, "a note");
  }
  FieldView view() {
    const auto fill = [this](int, std::int64_t, std::span<float> cells) {
      std::ranges::fill(cells, static_cast<float>(steps));
    };
    return view_of(context, {{{}, "n", fill, context.ground}});
  }
  bool keep() {
    const auto state = [&] { return Json{{"recorded", recorder.json()}, {"steps", steps}, {"charted", charted}}; };
    return recorder.keep_files() && services.solved.save("count", "", {Json::object(), state()}, {});
  }
  /// The number in each frame.
  std::vector<int> frames() const {
    std::vector<int> all;
    for (const auto& frame : recorder.recorded().frames.at(0).values)
      all.push_back(static_cast<int>(*std::ranges::max_element(frame)));
    return all;
  }

  const Comm& comm;
  Config config{};
  GridOptions grid = test::flow_grid(Index::all(8), {true, true, true});
  Geometry geometry = build_geometry(comm, grid, *test::one_sphere(0.2, 8), KeepPores::all);
  RunServices services{};
  JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
  int steps = 0;
  std::vector<int> charted;
  Recorder recorder;
  bool goes_on = false;
};

class RecorderMpi : public ::testing::Test {
 protected:
  Comm comm = Comm::world();
  test::SharedDirectory place{comm};
  std::string folder = place.path() + "/solved";
};

// Of 1000 steps every two or three, 400 and the last one; of a few all.
TEST_F(RecorderMpi, ChartsHaveSomeHundredStates) {
  Counting many(comm, folder, false, 1000.0);
  for (int i = 1; i <= 1000; ++i) many.step(1e-3 * i, i == 1000);
  ASSERT_EQ(many.charted.size(), 400U);
  EXPECT_EQ(many.charted.front(), 3);
  EXPECT_EQ(many.charted.back(), 1000);
  for (std::size_t i = 1; i < many.charted.size(); ++i) EXPECT_LE(many.charted[i] - many.charted[i - 1], 3);
  Counting few(comm, folder, false, 7.0);
  for (int i = 1; i <= 7; ++i) few.step(i / 7.0, i == 7);
  EXPECT_EQ(few.charted, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

// Steps whose number is not known: by the part of the time; the first one where that is asked for, and always the last.
TEST_F(RecorderMpi, StatesOfStepsThatVaryAreEvenInTime) {
  Counting later(comm, folder, false, 0.0), at_once(comm, folder, false, 0.0, 0);
  for (Counting* all : {&later, &at_once})
    for (const double part : {0.001, 0.002, 0.0026, 0.003, 0.1, 0.9999, 1.0}) all->step(part, part == 1.0);
  EXPECT_EQ(later.charted, (std::vector<int>{3, 5, 6, 7}));
  EXPECT_EQ(at_once.charted, (std::vector<int>{1, 3, 5, 6, 7}));
}

// Of steps whose number is not known every first, second, fourth ..., so that there never are more than asked for, and
// the last.
TEST_F(RecorderMpi, FramesOfStepsAreEvenlyDistributed) {
  for (const auto& [most, n, apart] :
       {std::tuple(48, 30, 1), std::tuple(48, 47, 1), std::tuple(48, 95, 2), std::tuple(48, 100, 4),
        std::tuple(48, 500, 16), std::tuple(8, 7, 1), std::tuple(8, 30, 4), std::tuple(8, 500, 64)}) {
    Counting run(comm, folder, false, 0.0);
    for (; run.steps <= n; ++run.steps) {
      if (run.steps > 0) run.recorder.take_step(0.0, 0.0, run.steps == n);
      if (run.steps == n || run.recorder.step_frame_due(most))
        run.recorder.add_step_frame(run.view(), std::vector<std::string>{"n"}, 0, most);
      ASSERT_LE(std::ssize(run.recorder.recorded().frames.at(0).values), most + 1);
    }
    const std::vector<int> frames = run.frames();
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) EXPECT_EQ(frames[i] % apart, 0) << n;
    for (std::size_t i = 1; i + 1 < frames.size(); ++i) EXPECT_EQ(frames[i] - frames[i - 1], apart) << n;
    EXPECT_EQ(frames.back(), n);
  }
}

TEST_F(RecorderMpi, FramesAreAsManyAsAnAnimationHas) {
  Counting run(comm, folder, false, 480.0);
  for (int i = 1; i <= 480; ++i) run.step(i / 480.0, i == 480);
  const std::vector<int> frames = run.frames();
  EXPECT_NEAR(static_cast<double>(frames.size()), 48.0, 1.0);
  EXPECT_EQ(frames.front(), 1);
  for (std::size_t i = 2; i < frames.size(); ++i) EXPECT_NEAR(frames[i] - frames[i - 1], 10, 1);
  Counting long_steps(comm, folder, false, 4.0);
  for (int i = 1; i <= 4; ++i) {
    long_steps.step(0.25 * i, i == 4);
    long_steps.recorder.skip_frames(0.25 * i);
    EXPECT_FALSE(long_steps.recorder.frame_due(0.25 * i));
  }
  EXPECT_EQ(long_steps.frames(), (std::vector<int>{1, 2, 3, 4}));
}

// Steps that are dropped, each of two that were recorded, leave neither lines nor states nor frames.
TEST_F(RecorderMpi, WhatIsDroppedLeavesNothing) {
  for (const double known : {100.0, 0.0}) {
    const auto run_of = [&](bool drops) {
      const std::string name = folder + std::to_string(static_cast<int>(known)) + (drops ? "d" : "p");
      Counting run(comm, name, false, known);
      for (int i = 1; i <= 100; ++i) {
        if (drops) {
          const std::vector<int> charted = run.charted;
          run.recorder.hold();
          run.step(0.01 * i - 0.005, false);
          run.step(0.01 * i + 0.015, i == 100);
          run.recorder.drop();
          run.charted = charted;
          run.steps -= 2;
        }
        run.recorder.hold();
        run.step(0.01 * i, i == 100);
        run.recorder.release();
      }
      run.recorder.close();
      comm.any(false);
      return std::tuple(run.charted, run.frames(), run.recorder.recorded().steps, run.recorder.recorded().time,
                        plain_text(name + "_n.csv").value_or("none"));
    };
    EXPECT_EQ(run_of(true), run_of(false));
  }
}

// Interrupted behind a checkpoint or not: the same histories, states and frames.
TEST_F(RecorderMpi, ARunThatGoesOnRecordsTheSame) {
  for (const double known : {700.0, 0.0}) {
    const std::string name = folder + std::to_string(static_cast<int>(known));
    std::optional<Counting> whole;
    whole.emplace(comm, name + "w", false, known);
    EXPECT_FALSE(whole->goes_on);
    for (int i = 1; i <= 700; ++i) whole->step(i / 700.0, i == 700);
    whole->recorder.close();
    std::optional<Counting> run;
    run.emplace(comm, name, false, known);
    for (int i = 1; i <= 413; ++i) {
      run->step(i / 700.0, false);
      if (i == 399) {
        EXPECT_TRUE(run->keep());
      }
    }
    run.reset();
    run.emplace(comm, name, true, known);
    ASSERT_TRUE(run->goes_on);
    EXPECT_EQ(run->steps, 399);
    EXPECT_EQ(run->recorder.recorded().time, 10.0 * (399 / 700.0));
    for (int i = 400; i <= 700; ++i) run->step(i / 700.0, i == 700);
    run->recorder.close();
    EXPECT_EQ(run->charted, whole->charted);
    EXPECT_EQ(run->frames(), whole->frames());
    EXPECT_EQ(recorded_json(run->recorder.recorded()).at("frames").dump(),
              recorded_json(whole->recorder.recorded()).at("frames").dump());
    comm.any(false);  // histories are rank 0's
    EXPECT_EQ(plain_text(name + "_n.csv"), plain_text(name + "w_n.csv"));
  }
}

}  // namespace
}  // namespace karst::recorder_test
