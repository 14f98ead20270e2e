// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/walls_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/walls/wall_files.hpp"
#include "app/walls/walls_quantities.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/file/log.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

Evolution evolution_of(const JobContext& run) { return {mineral_motions(run), {}}; }

}  // namespace

bool flow_percolates(const JobContext& run) {
  const FlowOptions& flow = run.config.flow;
  return std::ranges::any_of(flow.axes, [&](int axis) { return run.geometry().report.percolates[axis]; });
}

WallsProcess::WallsProcess(const JobContext& run)
    : run_(run),
      evolution_(evolution_of(run)),
      state_(begin_evolution(run, evolution_.minerals.size())),
      events_(begin_wall_events(run.geometry())),
      recorder_(run, walls_process,
                {{evolution_csv, evolution_header(evolution_)}, {wall_events_csv, csv_head("", WallEvent())}}) {
  rates_before_.assign(evolution_.minerals.size(), 0.0);
}

std::string WallsProcess::dependencies() const {
  return run_.services.solved.dependencies(walls_process, run_.geometry(), run_.grid.cell_width());
}

State WallsProcess::state() {
  State state = state_of(run_, state_);
  state.numbers["states"] = json_of(evolution_.states, shown::record);
  state.numbers["steps"] = evolution_.steps;
  state.numbers["stride"] = evolution_.stride;
  state.numbers[wall_events_item] = json_of(events_, shown::record);
  state.numbers["covering"] = now_.covering;
  state.numbers["lying"] = now_.lying;
  state.numbers["step_rates"] = rates_of_step();
  state.numbers["step_speed"] = largest_speed_of_step();
  return state;
}

std::vector<double> WallsProcess::rates_of_step() const {
  if (now_.speed.empty()) return rates_before_;
  std::vector<double> rates(evolution_.minerals.size(), 0.0);
  for (const MovingPart& part : now_.parts) rates[part.mineral] += part.area * part.speed;
  run_.comm.sum(std::span(rates));
  return rates;
}

void WallsProcess::go_on(const State& state) {
  state_ = karst::evolution_of(run_, state);
  fail_together(run_.comm, [&] {
    take_value(state.numbers.at("states"), evolution_.states);
    evolution_.steps = state.numbers.at("steps");
    evolution_.stride = state.numbers.at("stride");
    evolution_.ended_by = state.numbers.value(ended_item, std::string());
    take_value(state.numbers.at(wall_events_item), events_);
    now_.covering = state.numbers.at("covering").get<std::vector<double>>();
    now_.lying = state.numbers.at("lying").get<std::vector<double>>();
    rates_before_ = state.numbers.at("step_rates").get<std::vector<double>>();
    largest_speed_before_ = state.numbers.at("step_speed");
  });
}

double WallsProcess::value_of_end(const EvolutionLine& line) const {
  return run_.config.walls.until.of == WallsEnd::Of::porosity ? line.porosity
                                                              : line.permeability[run_.config.flow.axes[0]];
}

void WallsProcess::begin_record() {
  evolution_.states.push_back(line());
  const WallsDeck& deck = run_.config.walls;
  const std::string met = met_at_once(deck.until, deck.until_text, value_of_end(evolution_.states.back()));
  require(met.empty(), "{}", met);
  recorder_.append(evolution_csv, evolution_line(evolution_, evolution_.states.back()));
  add_frame(false);
}

void WallsProcess::add_frame(bool last) {
  std::vector<JobComponent> fields;
  for (const JobResult& result : results()) std::ranges::copy(result.components, std::back_inserter(fields));
  add_wall_frame(run_, fields, last, recorder_);
}

void WallsProcess::look_for_end() {
  if (run_.config.flow.model != FlowModel::none && !flow_percolates(run_))
    evolution_.ended_by = no_path;
  else if (std::ranges::none_of(evolution_.minerals, [&](const MineralMotion& m) {
             if (m.deposit) return true;
             const auto number = &m - evolution_.minerals.data();
             return m.deck != nullptr && run_.geometry().report.minerals[number].area > 0.0;
           }))
    evolution_.ended_by = "all walls that move are gone";
}

EvolutionLine WallsProcess::line() {
  const GeometryReport& report = run_.geometry().report;
  const double h = run_.grid.cell_width(), volume = h * h * h;
  EvolutionLine line;
  line.time = state_.time;
  line.dt = state_.dt;
  line.porosity = report.porosity;
  line.connected_porosity = report.connected_porosity;
  line.specific_surface = report.specific_surface / h;
  line.permeability = Vec3::all(no_number);
  for (const JobResult& result : results())
    if (result.json.contains("permeability_m2"))
      for (int d = 0; d < 3; ++d) line.permeability[d] = number_or_nan(result.json.at("permeability_m2").at(d).at(d));
  add_pore_volumes(line);
  line.moved = volume * state_.moved;
  line.owed = volume * sum_of(run_.comm, state_.owed);
  line.largest_speed = h * largest_speed_of_step();
  const LooseSolids loose = loose_solids(run_.geometry());
  line.fragments = loose.n;
  line.fragment_volume = volume * loose.volume;
  const std::vector<double> rates = rates_of_step();
  for (std::size_t m = 0; m < rates.size(); ++m) {
    const bool deposit = evolution_.minerals[m].deposit;
    double area = deposit ? 0.0 : report.minerals[m].area,
           solid = deposit ? 0.0 : report.minerals[m].volume.value_or(no_number);
    const double more = to_be_counted(m);
    if (!now_.covering.empty()) area += now_.covering[m], solid += now_.lying[m] - (deposit ? more : 0.0);
    line.minerals.push_back({h * h * area, volume * solid, volume * rates[m], volume * (state_.dissolved[m] + more),
                             volume * state_.carried_away[m]});
    line.dissolved += line.minerals.back().dissolved;
    line.carried_away += line.minerals.back().carried_away;
    line.owed += volume * more;
  }
  return line;
}

void WallsProcess::record(const Clock& clock) {
  state_.time = clock.time();  // no sum of steps
  add_step(line(), evolution_);
  const EvolutionLine& now = evolution_.states.back();
  recorder_.append(evolution_csv, evolution_line(evolution_, now));
  for (WallEvent& event : take_pending(now.time, events_)) {
    event.pore_volumes = now.pore_volumes;
    recorder_.append(wall_events_csv, csv_line("", event));
    log_detail("t = {}: {}, {:.3g} m3", format_si(event.time, "s"), what_happened(event), event.volume);
  }
  recorder_.take_step(now.time, clock.part(), clock.done());
  const WallsDeck& deck = run_.config.walls;
  const double first = value_of_end(evolution_.states.front()), value = value_of_end(now);
  const double part = std::max(clock.part(), deck.until.part(first, value));
  recorder_.tell(part, fmt::format("t = {}, porosity {:.5g}", format_si(now.time, "s"), now.porosity));
  evolution_.as_asked =
      deck.until.of != WallsEnd::Of::nothing && evolution_.ended_by.empty() && deck.until.reached(first, value);
  if (evolution_.as_asked) evolution_.ended_by = "walls.until: " + deck.until_text;
  add_frame(clock.done() || !evolution_.ended_by.empty());
  if (!evolution_.ended_by.empty())
    log_info("The walls stop moving at t = {}: {}", format_si(now.time, "s"), evolution_.ended_by);
}

void WallsProcess::at_output(const Clock& clock) { write_wall_files(run_, speeds(), clock.time(), recorder_.files()); }

JobResult WallsProcess::report() {
  recorder_.close();
  JobResult result;
  for (JobResult& of_job : results()) {
    result.json.update(of_job.json);
    result.text += of_job.text;
    result.warnings.add(of_job.warnings);
    std::ranges::move(of_job.components, std::back_inserter(result.components));
    std::ranges::move(of_job.balances, std::back_inserter(result.balances));
    std::ranges::move(of_job.solves, std::back_inserter(result.solves));
  }
  const FieldView view = view_of(run_, result.components);
  for (const Job& job : {flow_job(), transport_job()}) job.draw(run_.comm, result.json, view, result.figures);
  result.components = asked_of(run_.config, std::move(result.components));
  result.text += evolution_text(evolution_, wall_events_rows(events_));
  result.headline = evolution_headline(evolution_);
  result.json["walls"] = evolution_json(evolution_);
  add_to_summary(events_, run_.geometry(), run_.grid.cell_width(), result.json["walls"]);
  const EvolutionLine &begin = evolution_.states.front(), &end = evolution_.states.back();
  const double gone = end.dissolved + end.carried_away;
  const double h = run_.grid.cell_width(), domain = static_cast<double>(domain_of(run_.geometry()).box().count());
  const double growth = (end.porosity - begin.porosity) * h * h * h * domain;  // of the fluid
  result.balances.push_back(
      {"walls_relative", std::abs(gone - growth - end.owed) / std::max({std::abs(gone), std::abs(growth), 1e-300})});
  leave_wall_animations(run_, recorder_, result);
  result.files.push_back({evolution_csv, "porosity, permeability, dissolved minerals and rates over the time"});
  result.files.push_back({wall_events_csv, "pores cut off, joined and opened, fragments of solid that came loose"});
  finish_wall_files(run_, speeds(), end.time, recorder_.files(), result);
  result.warnings.add(evolution_warnings(run_, evolution_));
  return result;
}

Config config_of_step(const Config& config) {
  Config of_step = config;
  of_step.flow.estimate_error = of_step.flow.uncertainty = of_step.diffusion.estimate_error = false;
  of_step.output.wall = false;
  of_step.output.plot.insert(of_step.output.plot.end(), {PlotField::velocity, PlotField::concentration});
  return of_step;
}

std::vector<JobResult> steady_results(const JobContext& run, std::span<const Job> jobs, Exchanges& exchanges) {
  const Timer timer("steady state");
  const Config config = config_of_step(run.config);
  RunServices services{.solves_in_a_step = true};
  services.exchanges.taken = {ExchangeName::flow, ExchangeName::wall_rates};
  const JobContext here{
      .comm = run.comm, .config = config, .grid = run.grid, .ground = run.ground, .services = services};
  std::vector<JobResult> results;
  for (const Job& job : jobs) {
    if (!job.word.is_asked(config)) continue;
    const std::unique_ptr<Process> process = job.start(here);
    process->step(0.0);
    results.push_back(process->report());
  }
  exchanges.flow = std::move(services.exchanges.flow);
  exchanges.wall_rates = std::move(services.exchanges.wall_rates);
  return results;
}

}  // namespace karst
