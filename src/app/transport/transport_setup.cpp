// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/job/flow_sample.hpp"
#include "app/job/run_services.hpp"
#include "app/transport/initial_values.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "eb/mineral_choice.hpp"

namespace karst {

namespace {

constexpr double least_solid = 1e-9;  ///< below it there is only the round-off of walls on the faces of the domain

const Domain& domain_of(const JobContext& run) { return run.geometry().grid.levels[0].layout.domain(); }

bool has_flow(const Config& config) { return config.flow.model != FlowModel::none; }

int axis_of(const Config& config) { return has_flow(config) ? config.flow.axes.at(0) : config.transport.axis; }

double cross_section(const JobContext& run, int axis) {
  return run.grid.size[(axis + 1) % 3] * run.grid.size[(axis + 2) % 3];
}

/// f(fluxes of `to`, those of the others) for each list of the fields.
template <class F, class... Fields>
void for_lists(F&& f, FaceField& to, const Fields&... from) {
  const auto all = [](auto& field, int d) { return std::span(field.data(d), field.n_slots()); };
  for (int l = 0; l < to.grid().n_levels(); ++l) {
    for (int d = 0; d < 3; ++d) f(all(to.primary(l), d), all(from.primary(l), d)...);
    f(to.extra(l), from.extra(l)...);
    if (l > 0) f(to.coarse_fine(l - 1), from.coarse_fine(l - 1)...);
  }
}

/// Fluxes and velocity of the flow that the run has solved, made as fast as transport.peclet asks. Collective.
void take_flow(const JobContext& run, CarriedBy& flow) {
  const FlowExchange& solved = run.services.exchanges.flow;
  if (solved.in_time) {
    flow.flows = flow.in_time = true;
    flow.darcy_velocity = solved.in_time->downwards ? -1.0 : 1.0;
    flow.composite = solved.in_time->now.composite();
    flow.faces.emplace(flow.composite);
    blend(*solved.in_time, 1.0, *flow.faces);
    return;
  }
  require(solved.fluxes || !solved.columns.empty(), "transport: the flow of this run was not kept");
  const auto column = std::ranges::find(solved.columns, flow.axis, &FlowColumn::axis);
  require(solved.fluxes ? solved.fluxes->axis == flow.axis : column != solved.columns.end(),
          "transport: no flow along {} was solved", axis_names[flow.axis]);
  const double solved_velocity = solved.fluxes ? solved.fluxes->darcy_velocity : column->darcy_velocity[flow.axis];
  const TransportDeck& deck = run.config.transport;
  flow.flows = true;
  flow.darcy_velocity = solved_velocity;
  if (deck.peclet > 0.0) {
    const double wanted =
        deck.peclet * deck.diffusivity * run.sample_report().connected_porosity / number_length(run).length;
    flow.factor = wanted / std::abs(solved_velocity);
    flow.darcy_velocity = std::copysign(wanted, solved_velocity);
  }
  if (solved.fluxes) {
    flow.continuous = !solved.fluxes->solved;
    flow.faces.emplace(solved.fluxes->faces.composite());
    for_lists(
        [by = flow.factor](std::span<double> out, std::span<const double> given) {
          parallel_for(std::ssize(out), [&](std::int64_t i) { out[i] = by * given[i]; });
        },
        *flow.faces, solved.fluxes->faces);
  } else {
    const double h = run.grid.cell_width();
    flow.faces = flow_fluxes(run.ground->composite(), run.config.flow, run.config.fluid.viscosity, h, *column,
                             flow.darcy_velocity / h);
  }
  flow.composite = flow.faces->composite();
}

/// Asked on some ranks alone: the job looks at each step whether it is finite.
std::function<double(const Vec3&, double)> of_time(const std::string& text) {
  return [formula = std::make_shared<const Formula>(text, "t")](const Vec3&, double t) {
    return value_in(*formula, {t, 0.0, 0.0});
  };
}

/// Mean of a formula of the time by halves of [from, to], until the bounds in a half times its length are below
/// `close`: what is much shorter than a step counts, too.
double mean_of(const Formula& f, double from, double to, double close, int halvings) {
  const Interval value = f.bounds({from, 0.0, 0.0}, {to, 0.0, 0.0}).value;
  if (value.lo == value.hi) return value.lo;
  const double middle = 0.5 * (from + to);
  if (!(value.hi - value.lo > close) || halvings == 0)
    return (value_in(f, {from, 0.0, 0.0}) + 4.0 * value_in(f, {middle, 0.0, 0.0}) + value_in(f, {to, 0.0, 0.0})) / 6.0;
  return 0.5 *
         (mean_of(f, from, middle, 2.0 * close, halvings - 1) + mean_of(f, middle, to, 2.0 * close, halvings - 1));
}

std::function<double(double, double)> mean_in_time(const std::string& text) {
  return [formula = std::make_shared<const Formula>(text, "t")](double from, double to) {
    constexpr double exact = 1e-5;  // of the largest value in a step
    constexpr int halvings = 14;
    const Interval value = formula->bounds({from, 0.0, 0.0}, {to, 0.0, 0.0}).value;
    return mean_of(*formula, from, to, exact * std::max(std::abs(value.lo), std::abs(value.hi)), halvings);
  };
}

/// Of the wall of an own VoF, whose minerals react side by side: Σ k A (c - c_eq).
ScalarWall law_of(const LevelGeometry& level, std::int64_t row, const std::vector<ScalarWall>& of_mineral) {
  double area = 0.0, rate = 0.0, equilibrium = 0.0;
  for_each_mineral(level, row, [&](MineralNumber mineral, double a) {
    const ScalarWall& law = of_mineral.at(mineral);
    area += a;
    rate += law.rate * a;
    equilibrium += law.rate * a * law.equilibrium;
  });
  if (!(rate > 0.0)) return {};
  return {rate / area, equilibrium / rate};
}

ScalarSide inlet_of(const JobContext& run, const ComponentDeck& c, bool flows) {
  ScalarSide side;
  side.kind = c.inlet_kind == EndKind::value || !flows ? ScalarSide::Kind::fixed : ScalarSide::Kind::open;
  if (c.inlet_table) {
    side.value = [table = *c.inlet_table](const Vec3&, double t) { return table.at(t); };
  } else if (c.inlet_of_place) {
    side.value = of_place(run, c.inlet);
  } else {
    side.value = of_time(c.inlet);
    side.mean = mean_in_time(c.inlet);
  }
  if (!flows && !c.inlet_given) side = {};  // a closed end
  return side;
}

/// Without a concentration of its own: what may flow back is what was there at the beginning.
ScalarSide outlet_of(const ComponentDeck& c, std::shared_ptr<const InitialValues> initial) {
  ScalarSide side;
  if (c.outlet) {
    side.kind = ScalarSide::Kind::fixed;
    side.value = of_time(*c.outlet);
    side.mean = mean_in_time(*c.outlet);
  } else {
    side.value = [initial = std::move(initial)](const Vec3& x, double) { return initial->at(x); };
  }
  return side;
}

}  // namespace

WallRate SurfaceLaw::at(double c, double least) const {
  if (order == 1.0) return {flux + rate * (c - equilibrium), rate};
  const double back = rate * std::pow(equilibrium, order);  // no flux goes with another order
  if (c <= 0.0 || (order < 1.0 && c < least)) {
    const double slope = order < 1.0 ? rate * std::pow(least, order - 1.0) : 0.0;
    return {slope * std::max(c, 0.0) - back, slope};
  }
  return {rate * std::pow(c, order) - back, order * rate * std::pow(c, order - 1.0)};
}

void blend(const FluxesInTime& flow, double part, FaceField& to) {
  for_lists(
      [part](std::span<double> out, std::span<const double> before, std::span<const double> now) {
        parallel_for(std::ssize(out), [&](std::int64_t i) { out[i] = (1.0 - part) * before[i] + part * now[i]; });
      },
      to, flow.before, flow.now);
}

NumberLength number_length(const JobContext& run) {
  if (run.config.transport.peclet_length > 0.0) return {run.config.transport.peclet_length, ""};
  const GeometryReport& report = run.sample_report();
  const double surface = report.specific_surface / run.grid.cell_width(), solid = 1.0 - report.porosity;
  if (surface > 0.0 && solid > least_solid)
    return {6.0 * solid / surface, ", 6 (1 - porosity) / (wall area per volume)"};
  return {run.sample_grid().size[axis_of(run.config)], ", that of the domain: there is no solid in it"};
}

CarriedBy carried_by(const JobContext& run) {
  CarriedBy flow;
  flow.axis = axis_of(run.config);
  flow.periodic = domain_of(run).periodic[flow.axis];
  if (!has_flow(run.config)) {
    flow.composite = run.ground->composite();
    flow.faces.emplace(flow.composite);
    return flow;
  }
  take_flow(run, flow);
  return flow;
}

std::vector<std::vector<SurfaceLaw>> surface_laws(const JobContext& run) {
  std::vector<std::vector<SurfaceLaw>> all;
  const auto& minerals = run.geometry().report.minerals;
  for (const ComponentDeck& c : run.config.transport.components) {
    all.emplace_back(std::max<std::size_t>(1, minerals.size()));
    for (std::size_t m = 0; m < minerals.size(); ++m) {
      int best = -1;
      for (const WallDeck& wall : run.config.transport.walls) {
        const bool any = wall.mineral.empty() && minerals[m].name != surroundings;
        if ((!any && wall.mineral != minerals[m].name) || (!wall.component.empty() && wall.component != c.name))
          continue;
        const int particular = (wall.mineral.empty() ? 0 : 2) + (wall.component.empty() ? 0 : 1);
        if (particular <= best) continue;
        best = particular;
        const double rate =
            wall.damkohler > 0.0 ? wall.damkohler * c.diffusivity / number_length(run).length : wall.rate;
        all.back()[m] = {rate, wall.equilibrium, wall.order, wall.flux};
      }
    }
  }
  return all;
}

std::vector<std::vector<ScalarWall>> wall_laws(const JobContext& run) {
  std::vector<std::vector<ScalarWall>> all;
  for (const auto& of_component : surface_laws(run)) {
    all.emplace_back();
    for (const SurfaceLaw& law : of_component) all.back().push_back({law.rate, law.equilibrium});
  }
  return all;
}

std::vector<ScalarComponent> scalar_components(const JobContext& run, const CarriedBy& flow,
                                               const std::vector<std::vector<ScalarWall>>& laws,
                                               const std::vector<std::shared_ptr<InitialValues>>& initial) {
  const double h = run.grid.cell_width();
  std::vector<ScalarComponent> all;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const ComponentDeck& deck = run.config.transport.components[i];
    ScalarComponent c;
    c.name = deck.name;
    c.group = deck.group;
    c.diffusivity = deck.diffusivity / (h * h);
    c.decay = deck.decay;
    c.source = deck.source;
    if (!flow.periodic) {
      c.sides[flow.inlet()] = inlet_of(run, deck, flow.flows);
      c.sides[flow.outlet()] = outlet_of(deck, initial[i]);
    }
    std::vector<ScalarWall> of_mineral = laws[i];
    for (ScalarWall& law : of_mineral) law.rate /= h;
    if (std::ranges::any_of(of_mineral, [](const ScalarWall& law) { return law.rate > 0.0; }))
      c.wall = [ground = run.ground, of_mineral](const WallPiece& piece) {
        return law_of(ground->geometry().levels[piece.level], piece.row, of_mineral);
      };
    all.push_back(std::move(c));
  }
  return all;
}

TransportResult transport_numbers(const JobContext& run, const CarriedBy& flow) {
  TransportResult result;
  const GeometryReport& report = run.sample_report();
  const Vec3& size = run.sample_grid().size;
  result.axis = flow.axis;
  result.flows = flow.flows;
  result.has_ends = !flow.periodic;
  result.length = size[flow.axis];
  result.reservoir = run.sample ? run.sample->before[flow.axis] : 0;
  result.cell_width = std::ldexp(run.grid.cell_width(), 1 - run.grid.levels);
  result.number_length = number_length(run);
  result.porosity = report.connected_porosity;
  result.pore_volume = report.connected_porosity * size[0] * size[1] * size[2];
  result.in_time = flow.in_time;
  result.flow_factor = flow.factor;
  if (flow.factor != 1.0)
    result.reynolds =
        reynolds_number(sample_of(run, run.grid.cell_width()), run.config.fluid, std::abs(flow.darcy_velocity));
  if (!flow.in_time) result.darcy_velocity = flow.darcy_velocity;
  result.flow_rate = result.darcy_velocity * cross_section(run, flow.axis);
  if (flow.flows && !flow.in_time) result.pore_time = result.pore_volume / std::abs(result.flow_rate);
  for (const ComponentDeck& deck : run.config.transport.components) {
    ComponentResult c;
    c.name = deck.name;
    c.diffusivity = deck.diffusivity;
    if (deck.group == chemistry_group) c.unit = total_unit;
    c.closed_ends = deck.inlet_kind == EndKind::flux && !deck.outlet && flow.flows;
    c.conservative = deck.decay == 0.0 && deck.source == 0.0;
    result.components.push_back(c);
  }
  const auto laws = wall_laws(run);
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (std::ranges::any_of(laws[i], [](const ScalarWall& law) { return law.rate > 0.0; }))
      result.components[i].conservative = false;
  return result;
}

std::vector<std::string> break_warnings(const TimeOptions& times) {
  TimeOptions without = times;
  without.breaks.clear();
  std::erase_if(without.jumps, [](double time) { return time > 0.0; });  // the first steps are short either way
  const double steps = count_steps(times), fewer = count_steps(without);
  if (steps < 2.0 * fewer) return {};
  return {
      fmt::format("transport: steps end at the {} times where tables have a kink or formulas jump: {:.0f} steps "
                  "instead of {:.0f}; a table with fewer lines is faster",
                  times.breaks.size(), steps, fewer)};
}

std::vector<std::string> absent_walls(const JobContext& run) {
  Messages all;
  const std::vector<MineralDeck>& minerals = run.config.chemistry.minerals;
  for (std::size_t i = 0; i < minerals.size(); ++i)
    if (!minerals[i].wall.empty() && minerals[i].fraction == 0.0)
      all.add(
          "chemistry.mineral[{}].fraction: 0: no part of the wall is of {}, so it reacts with nothing; 1 is all of it",
          i, minerals[i].options.phase);
  if (run.config.walls.asked()) return all;  // what is covered now may come to the surface later
  const auto note = [&](const std::string& key, const std::string& name) {
    for (const MineralWall& m : run.geometry().report.minerals)
      if (m.name == name && !(m.area > 0.0))
        all.add(
            "{}: no wall of the fluid is of \"{}\", so it reacts with nothing; check where its "
            "solids are (in metres)",
            key, name);
  };
  for (std::size_t i = 0; i < run.config.transport.walls.size(); ++i)
    note(fmt::format("transport.wall[{}].mineral", i), run.config.transport.walls[i].mineral);
  for (std::size_t i = 0; i < minerals.size(); ++i)
    note(fmt::format("chemistry.mineral[{}].wall", i), minerals[i].wall);
  return all;
}

std::vector<std::string> table_warnings(const TransportDeck& deck, double end) {
  Messages all;
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const auto& table = deck.components[i].inlet_table;
    if (!table || (table->time.front() <= 0.0 && table->time.back() >= end)) continue;
    all.add(
        "transport.component[{}].inlet_table: covers {:g} to {:g} s, but the run 0 to {:g} s: before and after, the "
        "first and the last value of the table hold; times are in seconds",
        i, table->time.front(), table->time.back(), end);
  }
  return all;
}

TimeOptions transport_times(TimeOptions times, double pore_time, double largest_step) {
  constexpr double most_steps = 1e8;
  if (times.end_pore_volumes > 0.0) times.end = times.end_pore_volumes * pore_time;
  if (times.output_pore_volumes > 0.0) times.output = times.output_pore_volumes * pore_time;
  require(times.output <= times.end,
          "time: the output interval of {:g} s is longer than the run, which ends at {:g} s; remove it", times.output,
          times.end);
  const double by_flow = longest_by_flow(times, largest_step);
  times.dt = times.dt > 0.0 ? std::min(times.dt, by_flow) : by_flow;
  times.dt = std::min(times.dt, times.end);
  require(times.end / times.dt <= most_steps,
          "time: {:.3g} steps of {:.3g} s to the end at {:.3g} s; at most {:.0e} are allowed", times.end / times.dt,
          times.dt, times.end, most_steps);
  return times;
}

}  // namespace karst
