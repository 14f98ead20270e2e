// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/reactive_plan.hpp"
#include "app/transport_setup.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace karst {

namespace {

constexpr int samples = 16;  ///< of a formula along each direction, and
constexpr int samples_in_time = 256;

std::string key_of(std::size_t component, const char* key) {
  return fmt::format("transport.component[{}].{}", component, key);
}

/// In the middle of lattice cells, wherever fluid is: a formula that is not finite in the solid alone is told when the
/// values are set.
void check_initial(const JobContext& run, std::size_t i, std::vector<std::string>& found) {
  const std::string& text = run.config.transport.components[i].initial;
  const Formula formula(text);
  int wrong = 0;
  Vec3 at;
  double value = 0.0;
  for_each_cell(Box{Index{}, Index::all(samples)}, [&](const Index& c) {
    Vec3 x;
    for (int d = 0; d < 3; ++d) x[d] = run.grid.size[d] * (c[d] + 0.5) / samples;
    const double f = value_in(formula, x);
    if (std::isfinite(f)) return;
    if (wrong++ == 0) at = x, value = f;
  });
  if (wrong == samples * samples * samples)
    found.push_back(fmt::format("{}: \"{}\" is {} at ({:g}, {:g}, {:g}) m; it must be finite everywhere in the fluid",
                                key_of(i, "initial"), text, value, at[0], at[1], at[2]));
}

void check_in_time(const JobContext& run, const std::string& key, const std::string& text,
                   std::vector<std::string>& found) {
  const double end = run.config.time.end;  // 0: in pore volumes, not known yet
  for (int n = 0; n <= samples_in_time; ++n) {
    try {
      value_at(text, end * n / samples_in_time);
    } catch (const Error& e) {
      found.push_back(fmt::format("{}: {}", key, e.what()));
      return;
    }
  }
}

void check_walls(const JobContext& run, std::vector<std::string>& found) {
  const TransportDeck& deck = run.config.transport;
  std::vector<std::string> there;
  for (const MineralWall& mineral : run.geometry.report.minerals) there.push_back(mineral.name);
  for (std::size_t i = 0; i < deck.walls.size(); ++i) {
    const std::string& mineral = deck.walls[i].mineral;
    if (mineral.empty() || std::ranges::count(there, mineral) > 0) continue;
    const std::string near = nearest(mineral, there);
    found.push_back(fmt::format("transport.wall[{}].mineral: the wall has no \"{}\"{}; there are: {}", i, mineral,
                                near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), join(there)));
  }
  const auto laws = surface_laws(run);
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (deck.components[i].diffusivity == 0.0 &&
        std::ranges::any_of(laws[i], [](const SurfaceLaw& law) { return law.acts(); }))
      found.push_back(fmt::format(
          "{}: 0, but walls react with {}, which only diffusion brings to them; give a diffusivity, or name the "
          "component in [[transport.wall]]",
          key_of(i, "diffusivity"), deck.components[i].name));
}

/// Something must hold the level of the concentration.
void check_determined(const JobContext& run, int axis, std::vector<std::string>& found) {
  const TransportDeck& deck = run.config.transport;
  const bool ends = !run.grid.periodic[static_cast<std::size_t>(axis)];
  const bool flows = run.config.flow.model != FlowModel::none;
  const auto laws = surface_laws(run);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    const bool held = (ends && (flows || c.inlet_given || c.outlet)) || c.decay > 0.0 ||
                      std::ranges::any_of(laws[i], [](const SurfaceLaw& law) { return law.rate > 0.0; });
    if (!held)
      found.push_back(fmt::format(
          "transport.component[{}]: {} has neither an inlet or outlet with a concentration nor a wall with a "
          "rate nor decay, so any constant may be added to its steady state; give one of them, or compute it "
          "in time (transport.mode = \"in-time\")",
          i, c.name));
  }
}

}  // namespace

std::vector<std::string> transport_mistakes(const JobContext& run) {
  const TransportDeck& deck = run.config.transport;
  std::vector<std::string> found;
  const bool flows = run.config.flow.model != FlowModel::none;
  const int axis = flows ? run.config.flow.axes.at(0) : deck.axis;
  if (flows && run.config.flow.inlets.empty() && !run.geometry.report.percolates[static_cast<std::size_t>(axis)])
    found.push_back(
        fmt::format("transport: no pore leads through the sample along {}, so nothing flows and nothing is "
                    "carried; name another axis in flow.axes, or use finer cells",
                    "xyz"[axis]));
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    check_initial(run, i, found);
    if (!c.inlet_table) check_in_time(run, key_of(i, "inlet"), c.inlet, found);
    if (c.outlet) check_in_time(run, key_of(i, "outlet"), *c.outlet, found);
  }
  check_walls(run, found);
  std::ranges::move(chemistry_mistakes(run.config, run.geometry), std::back_inserter(found));
  if (deck.steady()) check_determined(run, axis, found);
  return found;
}

}  // namespace karst
