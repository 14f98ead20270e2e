// SPDX-License-Identifier: BSD-3-Clause
// Every kind of job that goes through time is made again from its state, on the same ground and on one whose boxes have
// other owners.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/run/change_owners.hpp"
#include "app/run/simulation.hpp"
#include "base/deck/deck.hpp"
#include "base/file/json.hpp"
#include "base/file/plain_file.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"

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
        c.fill(static_cast<int>(l), b, cells);
        bytes.append(reinterpret_cast<const char*>(cells.data()), sizeof(float) * cells.size());
      }
    }
  return bytes;
}

/// What becomes of processes after a step.
using Change = std::function<void(JobContext&, std::span<const Job>, Together&, Clock&)>;

/// Their state is taken out, they go, and are made again from it.
void make_again(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  all.clear();
  all = begin_together(context, jobs, state);
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

/// Takes jobs through time, with changes after steps of these numbers.
Left march(JobContext& context, std::span<const Job> jobs, const std::map<int, Change>& changes) {
  std::optional<Checkpoint> from;
  Together together = begin_together(context, jobs, from);
  Clock clock = together.front()->clock();
  std::size_t changed = 0;
  while (!clock.done()) {
    double longest = std::numeric_limits<double>::infinity();
    for (const auto& job : together) longest = std::min(longest, job->longest_step());
    clock.limit(longest);
    for (const auto& job : together) job->step(clock.dt());
    clock.advance();
    for (const auto& job : together) job->record(clock);
    const auto change = changes.find(clock.steps());
    if (change == changes.end()) continue;
    change->second(context, jobs, together, clock);
    ++changed;
  }
  EXPECT_EQ(changed, changes.size()) << "of " << clock.steps() << " steps";
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
[[geometry.solid]]
shape = "sphere"
center = [4.6, 6.1, 5.3]
radius = 1.1
mineral = "grain"
[grid]
cells = [32, 8, 8]
size = [32, 8, 8]
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
tolerance = 1e-12
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
tolerance = 1e-12
axes = ["x"]
estimate_error = false
[time]
end_pore_volumes = 0.03
)";
constexpr const char* from_inlet = R"(
[flow]
model = "stokes"
tolerance = 1e-12
[[flow.inlet]]
side = "-x"
velocity = 0.5
[time]
end_pore_volumes = 0.03
)";
constexpr const char* dye = R"(
[transport]
diffusivity = 0.2
[[transport.component]]
name = "dye"
inlet = "1"
)";
/// Minerals at walls react within the step ("coupled") or between steps ("in-turn").
std::string waters_and_calcite(const std::string& walls) {
  std::string all = std::string("[transport]\ndiffusivity = 0.2\n") + test::waters + test::calcite;
  return all.insert(all.find("initial"), "walls = \"" + walls + "\"\n");
}
constexpr const char* dust = R"(
[[chemistry.mineral]]
name = "dust"
phase = "Aragonite"
area = 0.1
amount = 2e-5
rates = ["1e-2 H+ 1", "1e-6"]
)";

std::unique_ptr<LevelSet> two_grains() {
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{3.0, 3.0, 3.0}, 2.0}), 0));
  parts.push_back(of_mineral(make_level_set(Sphere{{4.6, 6.1, 5.3}, 1.1}), 0));
  return union_of_solids(std::move(parts), {"grain"});
}

/// Costs that give rank r n[r] boxes, or as large a part of them.
BoxCosts owners(const Geometry& geometry, std::span<const int> n) {
  BoxCosts costs;
  for (const LevelGeometry& level : geometry.levels) costs.cost.emplace_back(level.graph.layout().n_boxes(), 1.0);
  constexpr double never = 1e9;
  for (const int boxes : n) costs.slowness.push_back(boxes > 0 ? 1.0 / boxes : never);
  return costs;
}

/// One run of a kind, with changes.
Left run_of(const Kind& kind, bool refined, const std::map<int, Change>& changes) {
  const GridOptions plain = test::diffusion_grid({32, 8, 8}, {false, true, true}, 8);
  test::JobCase run(refined ? test::refined_in(plain, 1, {0, 0, 0}, {8, 8, 8}) : plain, *two_grains());
  run.config = test::config_of(kind.deck);
  run.services.handover.wanted = true;
  run.context.dealt_out = [&](const BoxCosts& costs) {
    Geometry geometry =
        build_geometry(run.comm, run.grid, *two_grains(), KeepPores::all, ControlVolumes::home_cells, costs);
    geometry.report = run.context.geometry().report;
    return std::make_shared<const Ground>(run.comm, std::move(geometry));
  };
  check_jobs(run.context);
  for (const Job& job : kind.steady) run_job(job, run.context);
  return march(run.context, kind.in_time, changes);
}

void expect_same(const Left& again, const Left& whole, const std::string& name) {
  EXPECT_EQ(again.json, whole.json) << name;
  EXPECT_EQ(again.texts, whole.texts) << name;
  EXPECT_TRUE(again.fields == whole.fields) << name;
}

std::vector<Kind> kinds() {
  const std::string reactive = std::string(box) + steady;
  const auto model = [](const char* deck, const char* name, const char* more) {
    return box + fmt::format(fmt::runtime(deck), name, more);
  };
  return {
      {"unsteady Stokes", model(in_time, "unsteady-stokes", ""), {}, {flow_job()}},
      {"Navier-Stokes", model(in_time, "navier-stokes", "cfl = 0.5"), {}, {flow_job()}, true},
      {"transport", std::string(box) + steady + dye, {flow_job()}, {transport_job()}, true},
      {"transport from an inlet", std::string(box) + from_inlet + dye, {flow_job()}, {transport_job()}},
      {"carried in time", model(in_time, "unsteady-stokes", "") + dye, {}, {flow_job(), transport_job()}},
      {"coupled walls", reactive + waters_and_calcite("coupled"), {flow_job()}, {transport_job()}},
      {"walls in turn, dust", reactive + waters_and_calcite("in-turn") + dust, {flow_job()}, {transport_job()}, true}};
}

/// All numbers of a table, columns scaled by their largest; without those that are round-off and counts of iterations.
std::vector<double> scaled_numbers(const std::string& text) {
  std::istringstream lines(text);
  std::string line, word;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;
  const auto words_of = [&](auto&& f) {
    std::istringstream words(line);
    for (std::size_t c = 0; std::getline(words, word, ','); ++c) f(c);
  };
  std::getline(lines, line);
  words_of([&](std::size_t) { names.push_back(word); });
  columns.resize(names.size());
  while (std::getline(lines, line))
    words_of([&](std::size_t c) { columns[c].push_back(word.empty() ? 0.0 : std::stod(word)); });
  std::vector<double> all;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto has = [&](const char* part) { return names[c].find(part) != std::string::npos; };
    if (has("imbalance") || has("charge") || has("divergence") || has("iterations") || has("solve") || has("kept") ||
        has("speciations"))
      continue;
    double largest = std::numeric_limits<double>::min();
    for (const double x : columns[c]) largest = std::max(largest, std::abs(x));
    for (const double x : columns[c]) all.push_back(x / largest);
  }
  return all;
}

/// @param same  of numbers beside the largest of their columns
void expect_near(const Left& moved, const Left& whole, double same, const std::string& name) {
  ASSERT_EQ(moved.texts.size(), whole.texts.size());
  for (std::size_t t = 0; t < whole.texts.size(); ++t) {
    const std::vector<double> a = scaled_numbers(moved.texts[t]), b = scaled_numbers(whole.texts[t]);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], same) << name << ", " << t << ", number " << i;
  }
}

/// After the first, third and fifth step boxes have other owners: all on one rank, none on some, one each. Nothing
/// holds the ground of before.
/// @param first  place in the list of shares
std::map<int, Change> moves(std::size_t first) {
  static constexpr std::array<std::array<int, 4>, 5> shares{
      {{4, 0, 0, 0}, {0, 2, 0, 2}, {1, 1, 1, 1}, {0, 0, 1, 3}, {2, 1, 1, 0}}};
  std::map<int, Change> changes;
  for (const int step : {1, 3, 5}) {
    const std::array<int, 4> share = shares[first++ % shares.size()];
    changes[step] = [share](JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
      const std::weak_ptr<const Ground> ground = context.ground;
      const std::weak_ptr<const Composite> composite = context.ground->composite();
      const std::weak_ptr<const CompositeNumbering> numbering = context.ground->numbering();
      change_owners(context, jobs, owners(context.geometry(), std::span(share).first(context.comm.size())), all, clock);
      EXPECT_TRUE(ground.expired());
      EXPECT_TRUE(composite.expired());
      EXPECT_TRUE(numbering.expired());
    };
  }
  return changes;
}

// Flows are solved to 1e-12 of the drive, and means across the axis are a thousand times smaller than along it.
constexpr double same_on_one_level = 1e-9, same_on_two = 1e-8;

// Steps of flow, of what steady flows and flows in time carry, and of reactions at walls, within the step and in turn,
// and in the volume: with the same bits from a state in memory, and as near as sums over ranks and solves are where
// boxes have other owners.
/// @param which  0, 1: every second kind, from there on
void expect_the_same_made_again(std::size_t which, bool refined) {
  const std::vector<Kind> all = kinds();
  for (std::size_t k = which; k < all.size(); k += 2) {
    const Kind& kind = all[k];
    if (refined && !kind.refined) continue;
    const std::string name = kind.name + (refined ? ", refined" : "");
    const Left whole = run_of(kind, refined, {});
    if (Comm::world().size() < 4)  // owners change nothing in it
      expect_same(run_of(kind, refined, {{1, make_again}, {2, make_again}, {5, make_again}}), whole, name);
    expect_near(run_of(kind, refined, moves(k)), whole, refined ? same_on_two : same_on_one_level, name);
  }
}
TEST(ProcessStateMpi, MadeAgainItGoesOnTheSame) { expect_the_same_made_again(0, false); }
TEST(ProcessStateMpi, OthersMadeAgainGoOnTheSameAtNight) { expect_the_same_made_again(1, false); }
TEST(ProcessStateMpi, MadeAgainOnTwoLevelsItGoesOnTheSameAtNight) {
  for (const std::size_t which : {0U, 1U}) expect_the_same_made_again(which, true);
}

}  // namespace
}  // namespace karst::process_state_test
