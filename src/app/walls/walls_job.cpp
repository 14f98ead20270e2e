// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/walls_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/output/wall_surface.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

/// The first step and the growth of steps, over the longest and over the step before: the first step has no trend yet.
constexpr double first_step = 0.25, most_growth = 2.0;
constexpr const char* walls_item = "walls";

class WallsInTime final : public Process {
 public:
  explicit WallsInTime(const JobContext& run);
  void begin() override;
  State state() override;
  void go_on(const State& state) override;
  std::string dependencies() const override {
    return run_.services.solved.dependencies("walls", run_.geometry(), run_.grid.cell_width());
  }
  Recorder* recorder() override { return &recorder_; }
  Clock clock() const override { return Clock(run_.config.time); }
  double longest_step() override;
  void step(double dt) override { dt_ = dt; }
  void move_walls(JobContext& run) override;
  std::string ends_early() const override { return evolution_.ended_by; }
  void record(const Clock& clock) override;
  std::vector<JobComponent> fields() override;
  JobResult report() override;

 private:
  void solve();
  EvolutionLine line() const;

  const JobContext& run_;
  Evolution evolution_;
  EvolutionState state_;
  SteadyState now_;
  Recorder recorder_;
  WallClock wall_clock_;
  double dt_ = 0.0;
};

Evolution evolution_of(const JobContext& run) {
  const Index& cells = run.grid.cells;
  return {mineral_motions(run), {}, std::pow(run.grid.cell_width(), 3) * cells[0] * cells[1] * cells[2], {}};
}

WallsInTime::WallsInTime(const JobContext& run)
    : run_(run),
      evolution_(evolution_of(run)),
      recorder_(run, "walls", {{evolution_csv, evolution_header(evolution_)}}) {
  state_.before = wall_rows(run.geometry().levels);
  state_.owed = wall_rows(run.geometry().levels);
  state_.dissolved.assign(evolution_.minerals.size(), 0.0);
}

void WallsInTime::begin() {
  solve();
  evolution_.states.push_back(line());
  recorder_.append(evolution_csv, evolution_line(evolution_, evolution_.states.back()));
}

/// Whether a pore leads along any of the axes of the flow.
bool flows(const JobContext& run) {
  const FlowOptions& flow = run.config.flow;
  return std::ranges::any_of(flow.axes, [&](int axis) { return run.geometry().report.percolates[axis]; });
}

void WallsInTime::solve() {
  now_ = {};
  if (run_.config.flow.model != FlowModel::none && !flows(run_)) {
    evolution_.ended_by = "no pore percolates any more along the axes of the flow";
    return;
  }
  now_ = solve_steady_state(run_, evolution_.minerals);
  if (run_.comm.sum(std::ssize(now_.parts)) == 0) evolution_.ended_by = "all walls that move are gone";
}

double WallsInTime::longest_step() {
  const double width = std::ldexp(1.0, 1 - static_cast<int>(run_.geometry().levels.size()));
  if (now_.largest_speed == 0.0) return Process::longest_step();
  const double longest = run_.config.walls.displacement * width / now_.largest_speed;
  const double dt = run_.config.time.dt > 0.0 ? std::min(longest, run_.config.time.dt) : longest;
  return state_.dt > 0.0 ? std::min(dt, most_growth * state_.dt) : first_step * dt;
}

void WallsInTime::move_walls(JobContext& run) {
  const WallMotion motion = motion_of(run, now_, dt_, state_);
  dissolve(run.comm, now_, 0.5 * dt_, state_);
  state_.before = now_.speed;
  now_ = {};
  move_to_next_ground(run, motion, evolution_.minerals, state_);
  state_.dt = dt_;
  solve();
  if (evolution_.ended_by.empty())
    dissolve(run.comm, now_, 0.5 * dt_, state_);
  else
    settle(run, state_);
}

EvolutionLine WallsInTime::line() const {
  const GeometryReport& report = run_.geometry().report;
  const double h = run_.grid.cell_width(), volume = h * h * h;
  EvolutionLine line;
  line.time = state_.time;
  line.dt = state_.dt;
  line.porosity = report.porosity;
  line.connected_porosity = report.connected_porosity;
  line.specific_surface = report.specific_surface / h;
  line.permeability = Vec3::all(no_number);
  for (const JobResult& result : now_.results)
    if (result.json.contains("permeability_m2"))
      for (int d = 0; d < 3; ++d) line.permeability[d] = number_or_nan(result.json.at("permeability_m2").at(d).at(d));
  line.moved = volume * state_.moved;
  line.owed = volume * sum_of(run_.comm, state_.owed);
  line.largest_speed = h * now_.largest_speed;
  std::vector<double> rates(evolution_.minerals.size(), 0.0);
  for (const MovingPart& part : now_.parts) rates[part.mineral] += part.area * part.speed;
  run_.comm.sum(std::span(rates));
  for (std::size_t m = 0; m < rates.size(); ++m) {
    line.minerals.push_back({h * h * report.minerals[m].area, volume * rates[m], volume * state_.dissolved[m]});
    line.dissolved += line.minerals.back().dissolved;
  }
  return line;
}

void WallsInTime::record(const Clock& clock) {
  state_.time = clock.time();  // no sum of steps
  const EvolutionLine& now = evolution_.states.emplace_back(line());
  recorder_.append(evolution_csv, evolution_line(evolution_, now));
  recorder_.take_step(now.time, clock.part(), clock.done());
  recorder_.tell(clock.part(), fmt::format("t = {}, porosity {:.5g}", format_si(now.time, "s"), now.porosity), "",
                 fmt::format("{:.3g} of a cell owed per cell of wall",
                             now.owed / std::max(1e-300, run_.grid.cell_width() * run_.geometry().report.wall_area *
                                                             std::pow(run_.grid.cell_width(), 2))));
  if (!evolution_.ended_by.empty())
    log_info("The walls stop moving at t = {}: {}", format_si(now.time, "s"), evolution_.ended_by);
}

std::vector<JobComponent> WallsInTime::fields() {
  std::vector<JobComponent> all;
  for (const JobResult& result : now_.results) std::ranges::copy(result.components, std::back_inserter(all));
  return all;
}

State WallsInTime::state() {
  State state;
  const CompositeNumbering& numbering = *run_.ground->numbering();
  VofSet unknowns = unknowns_of(run_.geometry(), numbering);
  Array<double> rows(2 * unknowns.size, Purpose::buffers, 0.0);
  for (const WallPlace& p : wall_places(run_.geometry(), numbering)) {
    rows[2 * p.unknown] = state_.before[p.level][p.row];
    rows[2 * p.unknown + 1] = state_.owed[p.level][p.row];
  }
  add_owned(state, {walls_item, "h0/s, h0^3", ItemKind::amount, 2, unknowns.name}, std::move(rows));
  add_set(state, std::move(unknowns));
  state.numbers = {{"time", state_.time},
                   {"dt", state_.dt},
                   {"dissolved", state_.dissolved},
                   {"moved", state_.moved},
                   {"states", states_json(evolution_.states)}};
  return state;
}

void WallsInTime::go_on(const State& state) {
  fail_together(run_.comm, [&] {
    const Json& numbers = state.numbers;
    state_.time = numbers.at("time");
    state_.dt = numbers.at("dt");
    state_.dissolved = numbers.at("dissolved").get<std::vector<double>>();
    state_.moved = numbers.at("moved");
    evolution_.states = states_of(numbers.at("states"));
    std::vector<double> rows(2 * set_of(state, unknowns_of(run_.geometry(), *run_.ground->numbering()).name).size);
    take_item(state, walls_item, 2, rows);
    for (const WallPlace& p : wall_places(run_.geometry(), *run_.ground->numbering())) {
      state_.before[p.level][p.row] = rows[2 * p.unknown];
      state_.owed[p.level][p.row] = rows[2 * p.unknown + 1];
    }
  });
  solve();
}

JobResult WallsInTime::report() {
  recorder_.close();
  JobResult result;
  for (JobResult& of_job : now_.results) {
    result.json.update(of_job.json);
    result.text += of_job.text;
    std::ranges::move(of_job.warnings, std::back_inserter(result.warnings));
    std::ranges::move(of_job.components, std::back_inserter(result.components));
    std::ranges::move(of_job.balances, std::back_inserter(result.balances));
    std::ranges::move(of_job.solves, std::back_inserter(result.solves));
    result.figures.merge(of_job.figures);
  }
  result.text += evolution_text(evolution_);
  result.headline = evolution_headline(evolution_);
  result.json["walls"] = evolution_json(evolution_);
  const EvolutionLine& end = evolution_.states.back();
  result.balances.push_back({"walls_relative", std::abs(end.dissolved - end.moved - end.owed) /
                                                   std::max({std::abs(end.dissolved), std::abs(end.moved), 1e-300})});
  result.files.push_back({evolution_csv, "porosity, permeability, dissolved minerals and rates over the time"});
  if (!evolution_.ended_by.empty())
    result.warnings.push_back(
        fmt::format("the walls stopped moving at t = {:g} s, before time.end: {}", end.time, evolution_.ended_by));
  finish_files(run_, recorder_.files(), end.time, result);
  return result;
}

}  // namespace

std::unique_ptr<Process> start_walls(const JobContext& context) { return std::make_unique<WallsInTime>(context); }

std::vector<std::string> walls_mistakes(const JobContext& context) {
  std::vector<std::string> found, names;
  for (const MineralWall& m : context.geometry().report.minerals) names.push_back(m.name);
  const std::vector<MovingMineral>& deck = context.config.walls.minerals;
  for (std::size_t i = 0; i < deck.size(); ++i)
    if (!deck[i].name.empty() && std::ranges::count(names, deck[i].name) == 0)
      found.push_back(fmt::format("walls.mineral[{}].name: \"{}\" is no mineral of the geometry; expected one of: {}",
                                  i, deck[i].name, join(names, ", ")));
  if (context.config.flow.model != FlowModel::none && !flows(context))
    found.push_back("walls: no pore percolates along the axes of the flow (flow.axes)");
  return found;
}

Job walls_job() {
  return {.word = job_word("walls"),
          .mistakes = walls_mistakes,
          .start = start_walls,
          .page = walls_page,
          .cost = {.plan =
                       [](const Config& config, const GridOptions& grid) {
                         JobPlan plan = flow_job().cost.plan(config, grid);
                         if (config.flow.model == FlowModel::none) plan = transport_job().cost.plan(config, grid);
                         return plan;
                       },
                   .setup_work = flow_job().cost.setup_work,
                   .pace = flow_job().cost.pace,
                   .usual_pace = flow_job().cost.usual_pace,
                   .n_fields =
                       [](const Config& config, PlotField field) {
                         int n = 0;
                         for (const Job& job : {flow_job(), transport_job()})
                           if (job_of(field) == job.word.name) n += job.cost.n_fields(config, field);
                         return n;
                       }},
          .in_time = [](const Config&) { return true; },
          .does = {"flow", "transport"}};
}

}  // namespace karst
