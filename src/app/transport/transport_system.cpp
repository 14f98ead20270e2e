// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/job/run_services.hpp"
#include "app/output/vof_values.hpp"
#include "app/transport/initial_values.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/mix.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr const char* potential_name = "flow_potential";

/// Of values by the places of their volumes: the same on any number of ranks. Collective.
std::uint64_t fingerprint(const Comm& comm, const ScalarGrid& grid, std::span<const double> values) {
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    std::uint64_t hash = mix(std::uint64_t{0}, values[v]);
    for (int d = 0; d < 3; ++d) hash = mix(hash, grid.centroid[v][d]);
    sum += hash;
  }
  return sum_of_hashes(comm, sum);
}

void set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial, TransportSystem& s) {
  s.state = s.stepper->make_state();
  const ScalarGrid& grid = s.stepper->grid();
  const std::vector<ComponentDeck>& decks = s.run.config.transport.components;
  std::vector<double> values(grid.n_own);
  for (std::size_t i = 0; i < decks.size(); ++i) {
    initial[i]->fill(s.run.comm, grid, values);
    if (!decks[i].initial_file.empty())  // of whatever number of files
      s.given += fmt::format("initial values of {} {:016x}\n", decks[i].name, fingerprint(s.run.comm, grid, values));
    require_initial(s.run, i, values);
    s.stepper->set_values(s.state, i, values);
  }
}

/// Mean and extremes of a component, with what flows out now.
ComponentLine line_of_state(const TransportSystem& s, std::size_t i) {
  ComponentLine c;
  const ScalarGrid& grid = s.stepper->grid();
  const std::span<const double> values = s.state.values[i].span();
  std::array<double, 2> sums{};
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (std::int64_t v = 0; v < grid.n_own; ++v) {
    sums[0] += grid.volume[v] * values[v];
    sums[1] += grid.volume[v];
    least = std::min(least, values[v]);
    largest = std::max(largest, values[v]);
  }
  s.run.comm.sum(std::span(sums));
  c.mean = sums[0] / sums[1];
  c.least = -s.run.comm.max(-least);
  c.largest = s.run.comm.max(largest);
  return c;
}

ComponentLine line_of_step(const TransportSystem& s, std::size_t i) {
  ComponentLine c = s.moved_since_step ? line_of_state(s, i) : ComponentLine();
  const ComponentBalance& b = s.report.components[i];
  const double volume = s.h * s.h * s.h, dt = s.report.step;
  c.inflow = b.inflow * volume / dt;
  c.outflow = b.outflow * volume / dt;
  c.wall = b.wall * volume / dt;
  c.made = (b.source - b.decay) * volume / dt;
  c.imbalance = b.imbalance;
  if (s.moved_since_step) return c;
  c.mean = b.content / s.fluid_volume;
  c.least = b.least;
  c.largest = b.largest;
  return c;
}

ComponentLine component_line(const TransportSystem& s, std::size_t i) {
  const bool stepped = s.report.step > 0.0;
  ComponentLine c = stepped ? line_of_step(s, i) : line_of_state(s, i);
  const int outlet = s.flow.outlet();
  c.outlet = outlet >= 0 ? outflow_mean(s.run.comm, s.ends.ends, s.state.values[i].span(), outlet) : no_number;
  // Nothing diffuses through the ends: what flowed out, over what carried it, is exact and the mean over the step.
  if (stepped && !s.moved_since_step && outlet >= 0 && s.ends.leaves_by_outlet && s.numbers.components[i].closed_ends)
    c.outlet = s.report.components[i].outflow / (s.ends.in * s.report.step);
  return c;
}

}  // namespace

TransportSystem::TransportSystem(const JobContext& context)
    : run(context),
      h(run.grid.cell_width()),
      flow(carried_by(run)),
      numbers(transport_numbers(run, flow)),
      probes(mean_probes(run, *flow.composite)) {
  numbers.probes = {run.config.output.probes};
  for (const ComponentResult& c : numbers.components) numbers.probes.fields.push_back({c.name, "concentration"});
  TransportOptions options;
  options.tolerance = run.config.transport.tolerance;
  if (!flow.continuous) options.allowed_divergence = std::numeric_limits<double>::infinity();
  options.from_other_grid = !flow.continuous;
  const auto initial = initial_values(run, flow.outlet());
  stepper.emplace(flow.composite, scalar_components(run, flow, wall_laws(run), initial), options);
  if (flow.inlet() >= 0) inlet_mistakes(run, stepper->grid().boundary, flow.inlet()).finish();
  for (std::int64_t v = 0; v < stepper->grid().n_own; ++v) fluid_volume += stepper->grid().volume[v];
  fluid_volume = run.comm.sum(fluid_volume);
  set_initial(initial, *this);
  if (run.config.reactive == nullptr) return;
  chemistry.emplace(run, *stepper, probes).start(state);
  for (std::size_t i = run.config.reactive->first; i < numbers.components.size(); ++i)
    numbers.components[i].conservative = false;
}

void take_flow(FaceField& faces, TransportSystem& s, std::span<const double> potential) {
  const FlowContinuity continuity = s.stepper->set_flow(faces, potential);
  constexpr double allowed = 1e-9;
  require(
      s.flow.continuous || continuity.after <= allowed,
      "transport: on the other grid a cell gains or loses {:.2e} of its flux (before the projection {:.2e}), allowed "
      "is {:.0e}; leave the grid as it is where pores are narrow",
      continuity.after, continuity.before, allowed);
  s.continuity.before = std::max(s.continuity.before, continuity.before);
  s.continuity.after = std::max(s.continuity.after, continuity.after);
  s.ends.ends = end_flows(s.stepper->grid(), s.stepper->flow());
  std::array<double, 4> sums{};  // in, out, in through the outlet, out through it
  for (const FlowThroughEnd& f : s.ends.ends) {
    sums[f.flow < 0.0 ? 0 : 1] += std::abs(f.flow);
    if (f.side == s.flow.outlet()) sums[f.flow < 0.0 ? 2 : 3] += std::abs(f.flow);
  }
  s.run.comm.sum(std::span(sums));
  s.ends.in = sums[0];
  s.ends.through = sums[3] - sums[2];
  s.ends.backflow = sums[1] > 0.0 ? sums[2] / sums[1] : 0.0;
  s.ends.leaves_by_outlet = sums[1] > 0.0 && sums[3] >= (1.0 - 1e-9) * sums[1];
}

void advance(TransportSystem& s, double dt) {
  for (const ComponentDeck& c : s.run.config.transport.components) {
    if (!c.inlet_table && !c.inlet_of_place) value_at(c.inlet, s.state.time + dt);
    if (c.outlet) value_at(*c.outlet, s.state.time + dt);
  }
  if (s.chemistry)
    s.chemistry->step(*s.stepper, s.state, dt, s.ends.in * s.run.grid.cells[s.flow.axis], s.report);
  else
    s.stepper->advance(s.state, dt, s.report);
  s.moved_since_step = false;
}

void keep_state(TransportSystem& s) {
  SystemBefore& before = s.before;
  before.time = s.state.time;
  before.range = s.state.range;
  before.carried = s.carried;
  before.passed = s.passed;
  before.continuity = s.continuity;
  if (s.flow.in_time) {
    if (before.values.empty()) before.values = s.stepper->make_state().values;
    for (std::size_t i = 0; i < before.values.size(); ++i)
      std::ranges::copy(s.state.values[i].span(), before.values[i].begin());
  } else {
    s.stepper->forget_start();
  }
  if (s.chemistry) s.chemistry->keep();
}

void give_state_back(TransportSystem& s) {
  const SystemBefore& before = s.before;
  if (s.flow.in_time) {
    for (std::size_t i = 0; i < before.values.size(); ++i)
      std::ranges::copy(before.values[i].span(), s.state.values[i].begin());
  } else {
    s.stepper->go_back(s.state);
    if (s.chemistry) s.chemistry->give_totals_back(*s.stepper, s.state);
  }
  s.state.time = before.time;
  s.state.range = before.range;
  s.carried = before.carried;
  s.passed = before.passed;
  s.continuity = before.continuity;
  if (s.chemistry) s.chemistry->give_back();
}

bool begins_with_jump(const TransportSystem& s, double end) {
  constexpr double as_good_as = 1e-3;
  const ScalarGrid& grid = s.stepper->grid();
  bool jumps = false;
  for (std::size_t i = 0; i < s.state.values.size(); ++i)
    for (const BoundaryFace& face : grid.boundary) {
      const ScalarSide& side = s.stepper->components()[i].sides[face.side];
      if (side.kind != ScalarSide::Kind::fixed && !(s.stepper->flow()[face.face] < 0.0)) continue;
      const double given = side.value ? side.value(face.at, just_after(0.0, end)) : 0.0,
                   there = s.state.values[i][face.volume];
      jumps = jumps || std::abs(given - there) > as_good_as * std::max(std::abs(given), std::abs(there));
    }
  return s.run.comm.any(jumps);
}

double pore_volumes(const TransportSystem& s) {
  if (s.flow.in_time) return s.carried * s.h * s.h * s.h / s.numbers.pore_volume;
  return s.numbers.pore_time > 0.0 ? s.earlier.pore_volumes + (s.state.time - s.earlier.time) / s.numbers.pore_time
                                   : 0.0;
}

TransportLine line_of(const TransportSystem& s) {
  TransportLine line{s.state.time, s.report.step, pore_volumes(s), {}};
  const std::size_t n = s.state.values.size();
  for (std::size_t i = 0; i < n; ++i) line.components.push_back(component_line(s, i));
  line.probes =
      s.probes.values(s.run.comm, n, [&](std::int32_t unknown, std::size_t i) { return s.state.values[i][unknown]; });
  return line;
}

std::string profile_header(const JobContext& run, const std::string& before) {
  std::string head = before + "position_m";
  for (const std::string& name : run.config.transport.names()) head += ',' + name;
  return head + '\n';
}

std::string profile_lines(const JobContext& run, const ScalarGrid& grid, int axis,
                          const std::vector<std::span<const double>>& values, const std::string& before) {
  const int n = run.grid.cells[axis];
  std::vector<std::vector<double>> means;
  for (const std::span<const double> of_one : values) means.push_back(layer_means(grid, of_one, axis, n));
  std::string lines;
  for (std::int64_t layer = 0; layer < n; ++layer) {
    lines += fmt::format("{}{:.10g}", before, (static_cast<double>(layer) + 0.5) * run.grid.cell_width());
    for (const std::vector<double>& mean : means)
      lines += std::isfinite(mean[layer]) ? fmt::format(",{:.10g}", mean[layer]) : ",";
    lines += '\n';
  }
  return lines;
}

std::string profile_header(const TransportSystem& s) { return profile_header(s.run, "time_s,pore_volumes,"); }

std::string profile_lines(const TransportSystem& s) {
  std::vector<std::span<const double>> values;
  for (const auto& of_one : s.state.values) values.push_back(of_one.span());
  return profile_lines(s.run, s.stepper->grid(), s.flow.axis, values,
                       fmt::format("{:.10g},{:.10g},", s.state.time, pore_volumes(s)));
}

std::string dependencies_of(const TransportSystem& s) {
  std::string all = s.run.services.solved.dependencies("transport", s.run.geometry(), s.h) + s.given;
  if (s.chemistry) all += fmt::format("database {:016x}\n", s.run.config.reactive->database);
  for (const MineralDeck& m : s.run.config.chemistry.minerals)  // those of a file may have changed
    for (const std::string& rate : m.options.rates) all += fmt::format("rate of {} {}\n", m.options.name, rate);
  return all;
}

namespace {

double first_pore_volume(const TransportSystem& s) {
  return s.earlier.pore_volume > 0.0 ? s.earlier.pore_volume : s.numbers.pore_volume;
}

}  // namespace

namespace {

/// What lines of histories and results say of a step, beside its state.
Json step_json(const TransportReport& report) {
  Json json{{"dt", report.step}, {"implicit_volumes", report.implicit_volumes}, {"components", Json::array()}};
  for (const ComponentBalance& b : report.components)
    json["components"].push_back(
        {b.inflow, b.outflow, b.wall, b.decay, b.source, b.stored, b.content, b.imbalance, b.least, b.largest});
  return json;
}

TransportReport step_of(const Json& json) {
  TransportReport report;
  report.step = json.at("dt");
  report.implicit_volumes = json.at("implicit_volumes");
  for (const Json& of_one : json.at("components")) {
    const auto b = of_one.get<std::array<double, 10>>();
    report.components.push_back({b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9]});
  }
  return report;
}

}  // namespace

State state_of(const TransportSystem& s) {
  State state;
  Json& numbers = state.numbers;
  numbers = {{"time", s.state.time},
             {"range", Json::array()},
             {"pore_time", s.numbers.pore_time},
             {"earlier", {s.earlier.time, s.earlier.pore_volumes}},
             {"pore_volume", first_pore_volume(s)},
             {"carried", {s.carried, s.passed}},
             {"continuity", {s.continuity.before, s.continuity.after}}};
  const VofSet unknowns = unknowns_of(s.run.geometry(), *s.run.ground->numbering());
  add_set(state, unknowns);
  for (std::size_t i = 0; i < s.state.values.size(); ++i) {
    numbers["range"].push_back({s.state.range[i].least, s.state.range[i].largest});
    state.items.push_back(
        {concentration_name(s.numbers.components[i].name), "C", ItemKind::content, 1, unknowns.name, s.own_values(i)});
  }
  if (s.run.walls) numbers["step"] = step_json(s.report);
  if (s.keeps_flow()) {
    const std::vector<double> potential = s.stepper->flow_potential();
    Array<double> values(potential.size(), Purpose::buffers);
    std::ranges::copy(potential, values.begin());
    add_owned(state, {potential_name, "h0^2/s", ItemKind::memory, 1, unknowns.name}, std::move(values));
  }
  if (s.chemistry) s.chemistry->add_items(unknowns, state);
  return state;
}

void take_flow_of(const State& state, TransportSystem& s) {
  std::vector<double> potential;
  if (s.keeps_flow() && !state.other_grid) {
    potential.resize(s.own_values(0).size());
    fail_together(s.run.comm, [&] { take_item(state, potential_name, 1, std::span(potential)); });
  }
  take_flow(*s.flow.faces, s, potential);
}

namespace {

/// Pore volumes are those of the beginning. From walls that have moved on the flow is another one.
void take_pore_time(const State& state, TransportSystem& s) {
  const Json& numbers = state.numbers;
  const double before = numbers.at("pore_time");
  s.earlier = {numbers.at("earlier").at(0), numbers.at("earlier").at(1), numbers.at("pore_volume")};
  if (!(s.run.walls && state.other_grid && before > 0.0 && s.numbers.pore_time > 0.0)) {
    s.numbers.pore_time = before;
    return;
  }
  s.earlier.pore_volumes += (s.state.time - s.earlier.time) / before;
  s.earlier.time = s.state.time;
  s.numbers.pore_time *= s.earlier.pore_volume / s.numbers.pore_volume;
}

}  // namespace

void take_state(const State& state, TransportSystem& s) {
  const std::size_t n_own = s.own_values(0).size(), n = s.state.values.size();
  if (s.run.walls) {
    fail_together(s.run.comm, [&] { s.report = step_of(state.numbers.at("step")); });
    s.moved_since_step = s.report.step > 0.0;
  }
  std::vector<std::vector<double>> values(n, std::vector<double>(n_own));
  fail_together(s.run.comm, [&] {
    for (std::size_t i = 0; i < n; ++i)
      take_item(state, concentration_name(s.numbers.components[i].name), 1, std::span(values[i]));
  });
  for (std::size_t i = 0; i < n; ++i) {
    s.stepper->set_values(s.state, i, values[i]);
    const Json& range = state.numbers.at("range").at(i);
    s.state.range[i] = {range.at(0), range.at(1)};
  }
  const Json& numbers = state.numbers;
  s.state.time = numbers.at("time");
  take_pore_time(state, s);
  s.carried = numbers.at("carried").at(0);
  s.passed = numbers.at("carried").at(1);
  s.continuity = {numbers.at("continuity").at(0), numbers.at("continuity").at(1)};
  if (s.chemistry) s.chemistry->take_items(state, unknowns_of(s.run.geometry(), *s.run.ground->numbering()), s.state);
}

std::vector<JobComponent> fields_of(const TransportSystem& s, Chemistry chemistry) {
  std::vector<JobComponent> all;
  for (std::size_t i = 0; i < s.state.values.size(); ++i)
    all.push_back(concentration_field(s.run, s.numbers.components[i].name, s.own_values(i)));
  if (s.chemistry && chemistry == Chemistry::included)
    std::ranges::move(s.chemistry->fields(s.state), std::back_inserter(all));
  return all;
}

}  // namespace karst
