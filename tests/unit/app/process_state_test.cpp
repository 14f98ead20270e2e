// SPDX-License-Identifier: BSD-3-Clause
// Every kind of job that goes through time is made again from its state, on the same ground and on one whose boxes have
// other owners, and goes back where a step fails that it has made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/simulation.hpp"
#include "base/deck/deck.hpp"
#include "base/file/json.hpp"
#include "base/file/plain_file.hpp"
#include "grid/morton.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst::process_state_test {
namespace {

/// What is left of a run: results but for times, and histories.
struct Left {
  std::vector<std::string> json, texts;
  std::vector<std::string> fields;  ///< bytes of what a plotfile would hold, on this rank
};

std::string bytes_of(const std::vector<JobComponent>& components) {
  std::string bytes;
  for (const JobComponent& c : components)
    for (std::size_t l = 0; l < c.ground->geometry().levels.size(); ++l) {
      const LevelGraph& graph = c.ground->geometry().levels[l].graph;
      for (int b = 0; b < graph.n_local(); ++b) {
        std::vector<float> cells(graph.box(b).cells.count());
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

/// Takes jobs through time, with changes after steps of these numbers, 0: before the first.
/// @param stop  number of the step after which a checkpoint is written, and nothing else happens; 0: none
Left march(JobContext& context, std::span<const Job> jobs, const std::map<int, Change>& changes, int stop = 0) {
  std::optional<Checkpoint> from;
  Together together = begin_together(context, jobs, from);
  Clock clock = together.front()->clock();
  if (from) clock.go_on(from->clock);
  std::size_t changed = 0;
  const auto change_now = [&] {
    const auto change = changes.find(clock.steps());
    if (change == changes.end()) return;
    change->second(context, jobs, together, clock);
    ++changed;
  };
  for (change_now(); !clock.done(); change_now()) {
    make_step(together, clock);
    clock.advance();
    for (const auto& job : together) job->record(clock);
    if (clock.steps() != stop) continue;
    EXPECT_TRUE(save_checkpoint(context, together, clock));
    return {};
  }
  EXPECT_EQ(changed, changes.size()) << "of " << clock.steps() << " steps";
  Left left;
  std::vector<std::string> histories;
  for (const auto& job : together) {
    const std::vector<std::string> names = job->recorder()->files().histories;
    JobResult result = job->report();
    left.json.push_back(result.json.dump());
    left.fields.push_back(bytes_of(result.components));
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
  bool jumps = false;    ///< the flow does, at once: it stays behind the jump when a step fails
  Index cells{32, 8, 8};
  bool keeps = true;  ///< boxes from one ground to the next
};

const std::string box = test::sphere_solid({3, 3, 3}, 2, "grain") + test::sphere_solid({4.6, 6.1, 5.3}, 1.1, "grain") +
                        test::cells_along_x({32, 8, 8}) + R"([[output.probe]]
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
const std::string steady = test::creeping_flow + "tolerance = 1e-12\n[time]\nend_pore_volumes = 0.03\n";
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

std::unique_ptr<LevelSet> two_grains() { return test::grains({{{3.0, 3.0, 3.0}, 2.0}, {{4.6, 6.1, 5.3}, 1.1}}); }

/// Costs that give rank r n[r] boxes, or as large a part of them.
BoxCosts owners(const Geometry& geometry, std::span<const int> n) {
  BoxCosts costs;
  for (const LevelGeometry& level : geometry.levels) costs.cost.emplace_back(level.graph.layout().n_boxes(), 1.0);
  constexpr double never = 1e9;
  for (const int boxes : n) costs.slowness.push_back(boxes > 0 ? 1.0 / boxes : never);
  return costs;
}

/// One run of a kind, with changes.
/// @param folder  for what is kept on disk; empty: nothing
/// @param stop    as march(); 0: the run goes on from what is kept
Left run_of(const Kind& kind, bool refined, const std::map<int, Change>& changes, const std::string& folder = "",
            int stop = 0) {
  const GridOptions plain = test::diffusion_grid(kind.cells, {false, true, true}, 8);
  test::JobCase run(refined ? test::refined_in(plain, 1, {0, 0, 0}, {8, 8, 8}) : plain, *two_grains());
  run.config = test::config_of(kind.deck);
  std::vector<Job> all = kind.steady;
  all.insert(all.end(), kind.in_time.begin(), kind.in_time.end());
  run.services.exchanges.taken = taken_by(all, run.config);
  if (!folder.empty()) {
    run.services.solved = {run.comm, folder + "/solves", kind.deck, stop == 0};
    run.services.files.path = [&](const std::string& name) { return folder + "/" + name; };
  }
  KeptBoxes kept;
  run.context.make_ground = [&](const GridOptions& grid, const BoxCosts& costs) {
    Geometry geometry = build_geometry(run.comm, grid, *two_grains(), KeepPores::all, ControlVolumes::home_cells, costs,
                                       {kind.keeps ? &kept : nullptr, &run.context.geometry()});
    geometry.report = run.context.geometry().report;
    return std::make_shared<const Ground>(run.comm, std::move(geometry));
  };
  check_jobs(run.context);
  for (const Job& job : kind.steady) run_job(job, run.context);
  return march(run.context, kind.in_time, changes, stop);
}

void expect_same(const Left& again, const Left& whole, const std::string& name) {
  EXPECT_EQ(again.json, whole.json) << name;
  EXPECT_EQ(again.texts, whole.texts) << name;
  EXPECT_TRUE(again.fields == whole.fields) << name;
}

std::vector<Kind> kinds() {
  const std::string reactive = box + steady;
  const auto model = [](const char* deck, const char* name, const char* more) {
    return box + fmt::format(fmt::runtime(deck), name, more);
  };
  return {
      {"unsteady Stokes", model(in_time, "unsteady-stokes", ""), {}, {flow_job()}},
      {"Navier-Stokes", model(in_time, "navier-stokes", "cfl = 0.5"), {}, {flow_job()}, true},
      {"transport", box + steady + dye, {flow_job()}, {transport_job()}, true},
      {"transport from an inlet", box + from_inlet + dye, {flow_job()}, {transport_job()}},
      {"carried in time", model(in_time, "unsteady-stokes", "") + dye, {}, {flow_job(), transport_job()}},
      {"coupled walls", reactive + waters_and_calcite("coupled"), {flow_job()}, {transport_job()}},
      {"walls in turn, dust", reactive + waters_and_calcite("in-turn") + dust, {flow_job()}, {transport_job()}, true}};
}

/// What happens to steps, by their number from 1, counted without those that fail.
struct Plan {
  std::map<int, int> failures{};    ///< so many times the last process fails, after it has made its step
  std::map<int, double> lengths{};  ///< as long as they may be; of those that fail half of what failed last [s]
  bool looks = true;                ///< whether all is as before, after those that fail
};

/// A process that goes by a plan.
class Planned final : public Process {
 public:
  Planned(std::unique_ptr<Process> process, std::shared_ptr<Plan> plan)
      : process_(std::move(process)), plan_(std::move(plan)) {}
  State state() override { return process_->state(); }
  std::string dependencies() const override { return process_->dependencies(); }
  Recorder* recorder() override { return process_->recorder(); }
  Clock clock() const override { return process_->clock(); }
  double longest_step() override {
    const auto length = plan_->lengths.find(next_);
    const double longest = process_->longest_step();
    return length != plan_->lengths.end() ? std::min(longest, length->second) : longest;
  }
  void step(double dt) override {
    before_ = all_of_state();
    process_->step(dt);
    const auto failure = plan_->failures.find(next_);
    if (failure == plan_->failures.end() || failure->second == failed_) return;
    ++failed_;
    plan_->lengths[next_] = 0.5 * dt;
    throw StepFailed("as planned");
  }
  void accept() override { process_->accept(); }
  void go_back() override {
    process_->go_back();
    if (!plan_->looks) return;
    for (const auto& [name, bytes] : all_of_state())
      EXPECT_TRUE(bytes == before_.at(name)) << recorder()->process() << ", step " << next_ << ": " << name;
  }
  void record(const Clock& clock) override {
    process_->record(clock);
    ++next_;
    failed_ = 0;
  }
  void at_output(const Clock& clock) override { process_->at_output(clock); }
  std::vector<JobComponent> fields() override { return process_->fields(); }
  JobResult report() override { return process_->report(); }

 private:
  /// What later steps and outputs look back on, as bytes: not what stands in cells under a finer level, nor flows of
  /// one step earlier where there is none.
  std::map<std::string, std::string> all_of_state() {
    const State state = process_->state();
    std::map<std::string, std::string> all{{"numbers", state.numbers.dump()}, {"recorded", recorder()->json().dump()}};
    if (recorder()->process() == "flow") all["fields"] = bytes_of(process_->fields());
    const bool begins = state.numbers.value("dt", 1.0) == 0.0;
    for (const StateItem& item : state.items) {
      const bool earlier = item.name.find("one step earlier") != std::string::npos || item.name == "extra faces";
      if (item.name == "flow" || (begins && earlier)) continue;
      std::visit(
          [&](const auto& values) {
            all[item.name].assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
          },
          item.values);
    }
    return all;
  }
  std::unique_ptr<Process> process_;
  std::shared_ptr<Plan> plan_;
  int next_ = 1, failed_ = 0;
  std::map<std::string, std::string> before_;
};

/// The last process goes by the plan; the others may be looked at.
Change go_by(const std::shared_ptr<Plan>& plan, bool looks = true) {
  return [plan, looks](JobContext&, std::span<const Job>, Together& all, Clock&) {
    const auto others = std::make_shared<Plan>(Plan{.looks = looks});
    for (auto& process : all)
      process = std::make_unique<Planned>(std::move(process), &process == &all.back() ? plan : others);
  };
}

/// The columns of a table, scaled by their largest; without those that are round-off and counts of iterations.
/// @param without  others to be left out, by parts of their names
std::vector<std::vector<double>> scaled_columns(const std::string& text, const std::vector<const char*>& without = {}) {
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
  std::vector<std::vector<double>> all;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto has = [&](const char* part) { return names[c].find(part) != std::string::npos; };
    if (has("imbalance") || has("charge") || has("divergence") || has("iterations") || has("solve") || has("kept") ||
        has("speciations") || has("stored") || has("released") || std::ranges::any_of(without, has))
      continue;
    double largest = std::numeric_limits<double>::min();
    for (const double x : columns[c]) largest = std::max(largest, std::abs(x));
    for (double& x : columns[c]) x /= largest;
    all.push_back(columns[c]);
  }
  return all;
}

/// @param same     of numbers beside the largest of their columns
/// @param without  as scaled_columns()
void expect_near(const Left& moved, const Left& whole, double same, const std::string& name,
                 const std::vector<const char*>& without = {}) {
  ASSERT_EQ(moved.texts.size(), whole.texts.size());
  for (std::size_t t = 0; t < whole.texts.size(); ++t) {
    const auto a = scaled_columns(moved.texts[t], without), b = scaled_columns(whole.texts[t], without);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t c = 0; c < a.size(); ++c) {
      ASSERT_EQ(a[c].size(), b[c].size()) << name;
      for (std::size_t i = 0; i < a[c].size(); ++i)
        ASSERT_NEAR(a[c][i], b[c][i], same) << name << ", " << t << ", column " << c << ", line " << i;
    }
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

/// What is conserved to round-off, of all items and components [unit h0³].
std::map<std::string, double> amounts_of(const JobContext& context, const Together& all) {
  std::map<std::string, double> amounts;
  const ScalarGrid grid = make_scalar_grid(context.ground->composite());
  for (const auto& process : all) {
    const State state = process->state();
    for (const StateItem& item : state.items) {
      if (item.kind != ItemKind::amount) continue;
      const auto values = std::get<std::span<const double>>(item.values);
      double sum = 0.0;
      for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * grid.volume[i / item.components];
      amounts[item.name] = context.comm.sum(sum);
    }
  }
  return amounts;
}

/// The grid gets one more level in these boxes of its lattice, or has one alone; walls and pores stay.
Change to_fine_boxes(const Box& boxes) {
  return [boxes](JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
    const std::weak_ptr<const Ground> ground = context.ground;
    const std::map<std::string, double> before = amounts_of(context, all);
    FlaggedBoxes flagged;
    if (!boxes.empty()) {
      flagged.resize(1);
      for_each_cell(boxes, [&](const Index& at) { flagged[0].push_back(morton_encode(at)); });
      std::ranges::sort(flagged[0]);
    }
    change_levels(context, jobs, flagged, all, clock);
    EXPECT_TRUE(ground.expired());
    EXPECT_EQ(context.geometry().levels.size(), boxes.empty() ? 1 : 2);
    for (const auto& [name, amount] : amounts_of(context, all))
      EXPECT_NEAR(amount, before.at(name), 1e-12 * std::abs(before.at(name))) << name;
  };
}

/// Over everything, or nowhere.
Change to_levels(int levels) { return to_fine_boxes(levels == 2 ? Box{Index{}, {8, 2, 2}} : Box{}); }

/// Numbers at the end, over the largest of their columns in the whole run; without means across the drive, what has not
/// arrived at the outlet yet, what is of the grid alone, and minima of what enters water without it: round-off of 0.
void expect_near_at_end(const Left& changed, const Left& whole, double near, const std::string& name) {
  const std::vector<const char*> small{"darcy_velocity_y", "darcy_velocity_z", "outlet", "outflow", "out_mol", "cfl",
                                       "coupling",         "C(4)_min"};
  ASSERT_EQ(changed.texts.size(), whole.texts.size());
  for (std::size_t t = 0; t < whole.texts.size(); ++t) {
    const auto a = scaled_columns(changed.texts[t], small), b = scaled_columns(whole.texts[t], small);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t c = 0; c < a.size(); ++c)
      EXPECT_NEAR(a[c].back(), b[c].back(), near) << name << ", " << t << ", column " << c;
  }
}

// Flows are solved to 1e-12 of the drive, and means across the axis are a thousand times smaller than along it.
constexpr double same_on_one_level = 1e-9, same_on_two = 1e-8;

// Steps of flow, of what steady flows and flows in time carry, and of reactions at walls, within the step and in turn,
// and in the volume: with the same bits from a state in memory, and as near as sums over ranks and solves are where
// boxes have other owners.
void expect_the_same_made_again(bool refined, std::initializer_list<std::size_t> numbers) {
  const std::vector<Kind> all = kinds();
  for (const std::size_t k : numbers) {
    const Kind& kind = all[k];
    if (refined && !kind.refined) continue;
    const std::string name = kind.name + (refined ? ", refined" : "");
    const Left whole = run_of(kind, refined, {});
    expect_same(run_of(kind, refined, {{1, make_again}, {2, make_again}, {5, make_again}}), whole, name);
    expect_near(run_of(kind, refined, moves(k)), whole, refined ? same_on_two : same_on_one_level, name);
  }
}
// Each kind goes through some of these tests by day, and through all of them at night.
TEST(ProcessStateMpi, MadeAgainItGoesOnTheSame) { expect_the_same_made_again(false, {0, 2, 4, 6}); }
TEST(ProcessStateMpi, MadeAgainItGoesOnTheSameAtNight) {
  expect_the_same_made_again(false, {1, 3, 5});
  expect_the_same_made_again(true, {0, 1, 2, 3, 4, 5, 6});
}

// The grid gets a level over everything after the second step, and loses it after the fourth: what is conserved is kept
// to round-off, nothing holds the grid of before, and the end is near that of the run without changes.
void expect_near_with_other_levels(std::initializer_list<std::size_t> numbers) {
  const std::vector<Kind> all = kinds();
  for (const std::size_t k : numbers) {
    Kind kind = all[k];
    const std::string tight = "tolerance = 1e-12";
    kind.deck.replace(kind.deck.find(tight), tight.size(), "tolerance = 1e-9");
    const Left whole = run_of(kind, false, {}), changed = run_of(kind, false, {{2, to_levels(2)}, {4, to_levels(1)}});
    expect_near_at_end(changed, whole, 0.05, kind.name);
    expect_same(run_of(kind, false, {{3, to_levels(1)}}), whole, kind.name);  // the same grid again
  }
}
// Refined boxes move along a duct, more and fewer of them: with boxes that are kept from ground to ground each state
// has the bits of that on grounds made of none.
TEST(ProcessState, KeptBoxesChangeNoStateAloneByDay) {
  Kind kind = kinds().at(3);
  const auto fine = [](int first, int last) { return to_fine_boxes({{first, 0, 0}, {last, 2, 2}}); };
  const std::map<int, Change> changes{{1, fine(0, 4)}, {2, fine(0, 6)}, {3, fine(2, 6)}, {5, to_levels(1)}};
  const Left kept = run_of(kind, false, changes);
  kind.keeps = false;
  expect_same(run_of(kind, false, changes), kept, kind.name);
}
TEST(ProcessStateMpi, GoesOnWithOtherLevels) { expect_near_with_other_levels({1, 3, 5}); }
TEST(ProcessStateMpi, GoesOnWithOtherLevelsAtNight) { expect_near_with_other_levels({0, 2, 4, 6}); }

// A run that is stopped after its grid has changed goes on from its checkpoint on that grid, with the bits of one that
// was not stopped: also back on the grid where its flow was solved.
void expect_resumed_on_the_grid(std::initializer_list<std::size_t> numbers) {
  const Comm comm = Comm::world();
  const std::vector<Kind> all = kinds();
  for (const std::size_t k : numbers) {
    const Left whole = run_of(all[k], false, {{2, to_levels(2)}, {4, to_levels(1)}});
    const test::SharedDirectory folder(comm);
    run_of(all[k], false, {{2, to_levels(2)}}, folder.path(), 3);
    expect_same(run_of(all[k], false, {{4, to_levels(1)}}, folder.path()), whole, all[k].name);
  }
}
TEST(ProcessStateMpi, ResumedOnTheGridOfTheCheckpoint) { expect_resumed_on_the_grid({6}); }
TEST(ProcessStateMpi, ResumedOnTheGridOfTheCheckpointAtNight) { expect_resumed_on_the_grid({0, 1, 2, 3, 4, 5}); }

/// Beside those of kinds(): chemistry in a flow in time, and an inlet that jumps.
std::vector<Kind> more_kinds() {
  const std::string in_steps = box + fmt::format(fmt::runtime(in_time), "unsteady-stokes", "");
  std::string jumping = in_steps + dye;
  const auto put = [&](const char* from, const char* to, const std::string& text) {
    const std::size_t at = jumping.find(from);
    jumping.replace(at, jumping.find(to, at) - at, text);
  };
  put("drive = ", "[time]",
      "drive_factor = \"t < 31 ? t/31 : 0.3\"\ntolerance = 1e-8\n[[flow.inlet]]\nside = \"-x\"\nvelocity = 0.1\n");
  const std::vector<Job> both{flow_job(), transport_job()};
  return {{"coupled walls, in time", in_steps + waters_and_calcite("coupled"), {}, both},
          {"walls in turn, dust, in time", in_steps + waters_and_calcite("in-turn") + dust, {}, both},
          {"an inlet that jumps", jumping, {}, both, false, true}};
}

/// All ways to deal out boxes to ranks, a part of the list for each: how many each has.
std::vector<std::vector<int>> all_shares(int boxes, int ranks) {
  if (ranks == 1) return {{boxes}};
  std::vector<std::vector<int>> all;
  for (int first = 0; first <= boxes; ++first)
    for (std::vector<int>& rest : all_shares(boxes - first, ranks - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  return all;
}

// All owners that eight boxes can have, one after the other: a flow in time that carries waters which dissolve a wall.
TEST(ProcessStateRanks, AllOwnersOfEightBoxesAtNight) {
  Kind kind = more_kinds().at(0);
  kind.cells = {32, 16, 8};
  for (const char* of : {"cells = [32, 8, 8]", "size = [32, 8, 8]"})
    kind.deck.replace(kind.deck.find(of), std::string(of).size(),
                      std::string(of).replace(std::string(of).find("8"), 1, "16"));
  const std::vector<std::vector<int>> shares = all_shares(8, Comm::world().size());
  const std::string length = "dt = 10";
  kind.deck.replace(kind.deck.find(length), length.size(),
                    fmt::format("dt = {}", 50.0 / static_cast<double>(shares.size() + 1)));
  std::map<int, Change> changes;
  for (std::size_t i = 0; i < shares.size(); ++i)
    changes[static_cast<int>(i)] = [share = shares[i]](JobContext& context, std::span<const Job> jobs, Together& all,
                                                       Clock& clock) {
      change_owners(context, jobs, owners(context.geometry(), share), all, clock);
      EXPECT_EQ(context.geometry().levels[0].graph.n_local(), share[context.comm.rank()]);
    };
  expect_near(
      run_of(kind, false, changes), run_of(kind, false, {}), 1e-10, kind.name,
      {"darcy_velocity_y", "darcy_velocity_z", "pressure_coupling"});  // at most 1e-4 of the largest of their kind
}

// A step of the last process fails after all have made it: all stand where they stood, to the bit, and what is left in
// the end is that of a run which made the shorter step at once. Once, twice, and in steps one after the other, with the
// first one and, of flows, those behind a jump among them.
void expect_nothing_left(std::initializer_list<std::size_t> numbers) {
  std::vector<Kind> all = kinds();
  for (Kind& kind : more_kinds()) all.push_back(std::move(kind));
  for (const std::size_t k : numbers) {
    const Kind& kind = all[k];
    const auto failing = std::make_shared<Plan>(Plan{.failures = {{1, 1}, {3, 2}, {4, 1}, {7, 1}, {8, 1}}});
    const Left again = run_of(kind, kind.refined, {{0, go_by(failing, !kind.jumps)}});
    EXPECT_EQ(failing->lengths.size(), failing->failures.size()) << kind.name;
    const auto shorter = std::make_shared<Plan>(Plan{.lengths = failing->lengths});
    expect_same(again, run_of(kind, kind.refined, {{0, go_by(shorter)}}), kind.name);
  }
}
TEST(ProcessState, NothingIsLeftOfAStepThatFailedAloneByDay) { expect_nothing_left({6, 9}); }
TEST(ProcessStateMpi, NothingIsLeftOfAStepThatFailedAtNight) { expect_nothing_left({0, 1, 2, 3, 4, 5, 7, 8}); }

// A step that fails at any length ends the run, with what was there before it.
TEST(ProcessStateMpi, AStepThatFailsAtAnyLengthEndsTheRun) {
  const Kind kind = kinds().at(4);
  const auto plan = std::make_shared<Plan>(Plan{.failures = {{2, 4}}});
  try {
    run_of(kind, false, {{0, go_by(plan)}});
    FAIL();
  } catch (const CannotGoOn& e) {
    EXPECT_NE(std::string(e.what()).find("failed, also with a length of"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("as planned"), std::string::npos) << e.what();
  }
  EXPECT_EQ(plan->lengths.size(), 1U);
}

}  // namespace
}  // namespace karst::process_state_test
