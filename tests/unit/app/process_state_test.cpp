// SPDX-License-Identifier: BSD-3-Clause
// Every kind of job that goes through time is made again from its state, in memory, and goes on with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/run/checkpoint.hpp"
#include "app/run/simulation.hpp"
#include "base/deck/deck.hpp"
#include "base/file/json.hpp"
#include "base/file/plain_file.hpp"
#include "support/job_cases.hpp"

namespace karst::process_state_test {
namespace {

/// What is left of a run: results but for times, and histories.
struct Left {
  std::vector<std::string> json, texts;
  std::vector<std::string> fields;  ///< bytes of what a plotfile would hold, on this rank
};

std::string bytes_of(const JobResult& result) {
  std::string bytes;
  for (const JobComponent& c : result.components)
    for (std::size_t l = 0; l < c.ground->geometry().levels.size(); ++l) {
      const LevelGraph& graph = c.ground->geometry().levels[l].graph;
      for (int b = 0; b < graph.n_local(); ++b) {
        std::vector<float> cells(static_cast<std::size_t>(graph.box(b).cells.count()));
        c.fill(static_cast<int>(l), graph.first_box() + b, cells);
        bytes.append(reinterpret_cast<const char*>(cells.data()), sizeof(float) * cells.size());
      }
    }
  return bytes;
}

/// Takes jobs through time; after these steps their processes are made again.
Left march(const JobContext& context, std::span<const Job> jobs, std::vector<int> changes) {
  std::optional<Checkpoint> from;
  Together together = begin_together(context, jobs, from);
  Clock clock = together.front()->clock();
  int made_again = 0;
  while (!clock.done()) {
    double longest = std::numeric_limits<double>::infinity();
    for (const auto& job : together) longest = std::min(longest, job->longest_step());
    clock.limit(longest);
    for (const auto& job : together) job->step(clock.dt());
    clock.advance();
    for (const auto& job : together) job->record(clock);
    if (std::ranges::count(changes, clock.steps()) == 0) continue;
    from = take_checkpoint(context, together, clock);
    together.clear();
    together = begin_together(context, jobs, from);
    clock = together.front()->clock();
    clock.go_on(from->clock);
    ++made_again;
  }
  EXPECT_EQ(made_again, std::ssize(changes)) << "of " << clock.steps() << " steps";
  Left left;
  std::vector<std::string> histories;
  for (const auto& job : together) {
    const std::vector<std::string> names = job->recorder()->files().histories;
    JobResult result = job->report();
    left.json.push_back(result.json.dump());
    left.fields.push_back(bytes_of(result));
    histories.insert(histories.end(), names.begin(), names.end());
  }
  context.comm.any(false);
  for (const std::string& name : histories)
    left.texts.push_back(plain_text(context.services.files.path(name)).value_or("none"));
  return left;
}

struct Kind {
  std::string name, deck;
  std::vector<Job> steady{}, in_time{};
  bool refined = false;  ///< also on two levels
};

constexpr const char* box = R"(
[[geometry.solid]]
shape = "sphere"
center = [3, 3, 3]
radius = 2
mineral = "grain"
[grid]
cells = [12, 6, 6]
size = [12, 6, 6]
periodic = [false, true, true]
[[output.probe]]
name = "middle"
position = [6.2, 5.1, 3.3]
)";
constexpr const char* in_time = R"(
[flow]
model = "{}"
drive = "pressure-drop"
pressure_drop = 2e-3
drive_factor = "t < 31 ? 1 : 0.3"
axes = ["x"]
[time]
end = 50
dt = 10
{}
)";
constexpr const char* steady = R"(
[flow]
model = "stokes"
drive = "velocity"
velocity = 0.5
axes = ["x"]
estimate_error = false
[time]
end_pore_volumes = 0.2
)";
constexpr const char* from_inlet = R"(
[flow]
model = "stokes"
[[flow.inlet]]
side = "-x"
velocity = 0.5
[time]
end_pore_volumes = 0.2
)";
constexpr const char* dye = R"(
[transport]
diffusivity = 0.2
[[transport.component]]
name = "dye"
inlet = "1"
)";
constexpr const char* waters = R"(
[transport]
diffusivity = 0.2
[chemistry]
walls = "{}"
initial = "water"
inlet = "acid"
[[chemistry.solution]]
name = "water"
pH = 8
totals = ["Na 1e-2 charge", "Cl 1e-2"]
[[chemistry.solution]]
name = "acid"
pH = 3
totals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "grain"
rates = ["890 H+ 1", "0.5 CO2 1", "6.6e-4"]
)";
constexpr const char* dust = R"(
[[chemistry.mineral]]
name = "dust"
phase = "Aragonite"
area = 0.1
amount = 2e-5
rates = ["1e-2 H+ 1", "1e-6"]
)";

std::unique_ptr<LevelSet> one_grain() {
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{3.0, 3.0, 3.0}, 2.0}), 0));
  return union_of_solids(std::move(parts), {"grain"});
}

Config config_of(const std::string& text) {
  Reader in = Reader::from_text(text);
  Config config = read_config(in);
  in.finish();
  return config;
}

/// One run of a kind, with processes made again or not.
Left run_of(const Kind& kind, bool refined, const std::vector<int>& changes) {
  const GridOptions plain = test::diffusion_grid({12, 6, 6}, {false, true, true}, 8);
  test::JobCase run(refined ? test::refined_in(plain, 1, {4, 0, 0}, {12, 6, 6}) : plain, *one_grain());
  run.config = config_of(kind.deck);
  run.services.handover.wanted = true;
  check_jobs(run.context);
  for (const Job& job : kind.steady) run_job(job, run.context);
  return march(run.context, kind.in_time, changes);
}

void expect_same(const Left& again, const Left& whole, const std::string& name) {
  EXPECT_EQ(again.json, whole.json) << name;
  EXPECT_EQ(again.texts, whole.texts) << name;
  EXPECT_TRUE(again.fields == whole.fields) << name;
}

// Steps of flow, of what steady flows and flows in time carry, and of reactions at walls, within the step and in turn,
// and in the volume.
TEST(ProcessStateMpi, MadeAgainInMemoryItGoesOnWithTheSameBits) {
  const std::string reactive = std::string(box) + steady;
  const std::vector<Kind> kinds{
      {"unsteady Stokes", box + fmt::format(fmt::runtime(in_time), "unsteady-stokes", ""), {}, {flow_job()}},
      {"Navier-Stokes", box + fmt::format(fmt::runtime(in_time), "navier-stokes", "cfl = 0.5"), {}, {flow_job()}, true},
      {"transport", std::string(box) + steady + dye, {flow_job()}, {transport_job()}, true},
      {"transport from an inlet", std::string(box) + from_inlet + dye, {flow_job()}, {transport_job()}},
      {"carried in time",
       box + fmt::format(fmt::runtime(in_time), "unsteady-stokes", "") + dye,
       {},
       {flow_job(), transport_job()}},
      {"coupled walls", reactive + fmt::format(fmt::runtime(waters), "coupled"), {flow_job()}, {transport_job()}},
      {"walls in turn, dust",
       reactive + fmt::format(fmt::runtime(waters), "in-turn") + dust,
       {flow_job()},
       {transport_job()},
       true}};
  for (const Kind& kind : kinds)
    for (const bool refined : {false, true}) {
      if (refined && !kind.refined) continue;
      const std::string name = kind.name + (refined ? ", refined" : "");
      expect_same(run_of(kind, refined, {1, 2, 5}), run_of(kind, refined, {}), name);
    }
}

}  // namespace
}  // namespace karst::process_state_test
