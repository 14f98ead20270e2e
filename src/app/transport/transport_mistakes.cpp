// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "app/deck/reactive_plan.hpp"
#include "app/output/probes.hpp"
#include "app/output/slices.hpp"
#include "app/transport/initial_values.hpp"
#include "app/transport/transport_setup.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "ins/upscale/unbounded_flow.hpp"

namespace karst {

namespace {

constexpr int samples_in_time = 256;  ///< of a formula

std::string key_of(std::size_t component, const char* key) {
  return fmt::format("transport.component[{}].{}", component, key);
}

/// @param end  up to which it must hold [s]
void check_in_time(const std::string& key, const std::string& text, const ComponentDeck& component, double end,
                   Messages& found) {
  for (int n = 0; n <= samples_in_time; ++n) {
    const double t = end * n / samples_in_time;
    try {
      if (const std::string wrong = out_of_bounds(component, value_at(text, t), t); !wrong.empty()) {
        found.add("{}: {}", key, wrong);
        return;
      }
    } catch (const Error& e) {
      found.add("{}: {}", key, e.what());
      return;
    }
  }
}

/// That the flow takes to fill the pores once, where it is known before the flow is; otherwise 0 [s].
double known_pore_time(const JobContext& run) {
  const TransportDeck& deck = run.config.transport;
  double velocity = 0.0;  // in the pores
  const double porosity = run.sample_report().connected_porosity;
  if (deck.peclet > 0.0)
    velocity = deck.peclet * deck.diffusivity / number_length(run).length;
  else if (run.config.flow.drive == FlowDrive::velocity && porosity > 0.0)
    velocity = std::abs(run.config.flow.velocity) / porosity;
  if (!(velocity > 0.0)) return 0.0;
  return run.sample_grid().size[run.config.flow.axes.at(0)] / velocity;
}

/// Where the end is known before the flow is; otherwise what can be said at its beginning.
double known_end(const JobContext& run) {
  const TimeOptions& times = run.config.time;
  return times.end_pore_volumes > 0.0 ? times.end_pore_volumes * known_pore_time(run) : times.end;
}

/// Seconds against pore volumes.
void check_output(const JobContext& run, Messages& found) {
  const TimeOptions& times = run.config.time;
  const double end = known_end(run);
  const double output =
      times.output_pore_volumes > 0.0 ? times.output_pore_volumes * known_pore_time(run) : times.output;
  if (end > 0.0 && output > end)
    found.add("{}: every {:.4g} s is longer than the run, which ends at {:.4g} s; omit it for the final state only",
              times.output_pore_volumes > 0.0 ? "time.output_pore_volumes" : "time.output", output, end);
}

void check_walls(const JobContext& run, Messages& found) {
  const TransportDeck& deck = run.config.transport;
  std::vector<std::string> there;
  for (const MineralWall& mineral : run.geometry().report.minerals) there.push_back(mineral.name);
  for (std::size_t i = 0; i < deck.walls.size(); ++i) {
    const std::string& mineral = deck.walls[i].mineral;
    if (mineral.empty() || std::ranges::count(there, mineral) > 0) continue;
    found.add("transport.wall[{}].mineral: the wall has no \"{}\"{}; there are: {}", i, mineral,
              did_you_mean(mineral, there), join(there));
  }
  const auto laws = surface_laws(run);
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (deck.components[i].diffusivity == 0.0 &&
        std::ranges::any_of(laws[i], [](const SurfaceLaw& law) { return law.acts(); }))
      found.add(
          "{}: 0, but walls react with {}, which only diffusion transports to them; give a diffusivity, or name the "
          "component in [[transport.wall]]",
          key_of(i, "diffusivity"), deck.components[i].name);
}

/// The component begins with the same value everywhere.
bool is_one_number(const TransportDeck& deck, std::size_t component) {
  const ComponentDeck& c = deck.components[component];
  double value = 0.0;
  const auto [end, problem] = std::from_chars(c.initial.data(), c.initial.data() + c.initial.size(), value);
  return c.initial_file.empty() && deck.regions.empty() && problem == std::errc() &&
         end == c.initial.data() + c.initial.size();
}

/// Something must hold the level of the concentration.
void check_determined(const JobContext& run, int axis, Messages& found) {
  const TransportDeck& deck = run.config.transport;
  const bool ends = !run.grid.periodic[axis];
  const bool flows = run.config.flow.model != FlowModel::none;
  const auto laws = surface_laws(run);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    const bool held = (ends && (flows || c.inlet_given || c.outlet)) || c.decay > 0.0 ||
                      std::ranges::any_of(laws[i], [](const SurfaceLaw& law) { return law.rate > 0.0; });
    if (!held)
      found.add(
          "transport.component[{}]: {} has neither an inlet or outlet with a concentration nor a wall with a rate nor "
          "decay, so any constant may be added to its steady state; give one of them, or compute it in time "
          "(transport.mode = \"in-time\")",
          i, c.name);
  }
}

int axis_between_ends(const Config& config) {
  return config.flow.model != FlowModel::none ? config.flow.axes.at(0) : config.transport.axis;
}

}  // namespace

std::string out_of_bounds(const ComponentDeck& component, double value, double t) {
  if (!component.bounds) return {};
  const auto [low, high] = *component.bounds;
  if (value >= low && value <= high) return {};
  return fmt::format("{:g} at t = {:g} s is outside the given bounds, bounds = [{:g}, {:g}]", value, t, low, high);
}

Messages mistakes_in_time(const TransportDeck& deck, double end) {
  Messages found;
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    if (c.inlet_table) {
      for (std::size_t n = 0; n < c.inlet_table->time.size(); ++n)
        if (const std::string wrong = out_of_bounds(c, c.inlet_table->value[n], c.inlet_table->time[n]);
            !wrong.empty()) {
          found.add("{}: {}", key_of(i, "inlet_table"), wrong);
          break;
        }
    } else if (c.inlet_given && !c.inlet_of_place) {
      check_in_time(key_of(i, "inlet"), c.inlet, c, end, found);
    }
    if (c.outlet) check_in_time(key_of(i, "outlet"), *c.outlet, c, end, found);
  }
  return found;
}

std::vector<std::string> transport_mistakes(const JobContext& run) {
  const TransportDeck& deck = run.config.transport;
  Messages found;
  const bool flows = run.config.flow.model != FlowModel::none;
  const int axis = axis_between_ends(run.config);
  if (flows && run.config.flow.inlets.empty() && !run.geometry().report.percolates[axis])
    found.add(
        "transport: no pore percolates through the sample along {}, so there is no flow and no advection; choose "
        "another axis in flow.axes, or use finer cells",
        axis_names[axis]);
  if (flows && run.config.flow.inlets.empty() && !is_in_time(run.config.flow.model))
    if (std::string problem = unbounded_drive(run.config.flow, run.geometry(), axis); !problem.empty())
      found.push_back(std::move(problem));
  for (std::size_t i = 0; i < deck.components.size(); ++i) found.add(initial_mistakes(run, i));
  found.add(mistakes_in_time(deck, known_end(run)));
  if (!deck.steady()) check_output(run, found);
  check_walls(run, found);
  found.add(chemistry_mistakes(run.config, run.geometry()));
  if (deck.steady()) check_determined(run, axis, found);
  if (!is_in_time(run.config.flow.model)) {
    found.add(probe_mistakes(run));
    found.add(slice_mistakes(run));
  }
  return found;
}

std::vector<std::string> look_at_transport(const JobContext& run) {
  const TransportDeck& deck = run.config.transport;
  if (deck.steady()) return {};
  Messages found;
  const std::shared_ptr<const Composite>& composite = run.ground->composite();
  if (!run.config.output.probes.empty()) found.attempt([&] { mean_probes(run, *composite); });
  std::shared_ptr<ScalarGrid> grid;
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    if (is_one_number(deck, i)) continue;  // initial_mistakes() has looked at it
    if (!grid) grid = scalar_grid_of(composite, {});
    found.attempt([&] {
      std::vector<double> values(grid->n_own);
      InitialValues(run, i, -1).fill(run.comm, *grid, values);
      require_initial(run, i, values);
    });
  }
  // Levels that follow the solution may be finer there than those of now.
  if (!deck.regions.empty() && std::ranges::none_of(run.config.grid.refine, &Refinement::follows)) {
    if (!grid) grid = scalar_grid_of(composite, {});
    found.attempt([&] { found.add(region_mistakes(run, *grid)); });
  }
  const int axis = axis_between_ends(run.config);
  const bool of_place = std::ranges::any_of(deck.components, &ComponentDeck::inlet_of_place);
  if (of_place && !run.grid.periodic[axis]) {
    if (!grid) grid = scalar_grid_of(composite, {});
    const std::vector<FlowInlet>& inlets = run.config.flow.inlets;
    found.add(inlet_mistakes(run, grid->boundary, inlets.empty() ? side_of(axis, false) : inlets[0].side));
  }
  return found;
}

}  // namespace karst
