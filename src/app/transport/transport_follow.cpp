// SPDX-License-Identifier: BSD-3-Clause
// Boxes that transport in time asks for where the grid follows it (decision 060).
#include <algorithm>
#include <cmath>

#include "app/deck/clock.hpp"
#include "app/job/rule_fields.hpp"
#include "app/output/wall_surface.hpp"
#include "app/transport/transport_system.hpp"
#include "base/core/error.hpp"
#include "base/math/no_number.hpp"
#include "transport/regrid/flagged_boxes.hpp"
#include "transport/regrid/fluxes_on_other_grid.hpp"

namespace karst {

namespace {

using Where = Refinement::Where;

std::size_t component_of(const TransportSystem& s, const std::string& name) {
  const std::vector<ScalarComponent>& all = s.stepper->components();
  const auto found = name.empty() ? all.begin() : std::ranges::find(all, name, &ScalarComponent::name);
  require(found != all.end(), "grid.refine: {} is no component of the transport", name);
  return found - all.begin();
}

Indicator concentration_indicator(TransportSystem& s, const Refinement& rule) {
  const std::size_t i = component_of(s, rule.component);
  ScalarGrid& grid = s.stepper->grid();
  fetch_remote(grid, s.state.values[i].span());
  std::vector<double> at_ends;
  const std::span<const double> flow = s.stepper->flow();
  for (const BoundaryFace& face : grid.boundary) {
    const ScalarSide& side = s.stepper->components()[i].sides[face.side];
    const bool given = side.kind == ScalarSide::Kind::fixed || (!flow.empty() && flow[face.face] < 0.0);
    at_ends.push_back(!given ? no_number : side.value ? side.value(face.at, just_after(s.state.time, 0.0)) : 0.0);
  }
  return concentration_indicator(grid, rule, s.state.values[i].span(), at_ends);
}

/// The largest |rate| over the last step of the pieces of wall of a volume; 0 before the first step.
Indicator rate_indicator(TransportSystem& s, const Refinement& rule) {
  std::vector<double> largest(s.stepper->grid().n_own, 0.0);
  if (!(s.report.step > 0.0)) return indicator_of(rule, std::move(largest));
  const std::vector<WallPlace> places = wall_places(s.run.geometry(), *s.run.ground->numbering());
  const auto note = [&](int level, std::int64_t row, double rate) {
    const auto place = std::ranges::lower_bound(places, std::pair(level, row), {},
                                                [](const WallPlace& p) { return std::pair(p.level, p.row); });
    double& most = largest[place->unknown];
    most = std::max(most, std::abs(rate));
  };
  Exchanges rates;
  leave_wall_rates(s, rates);
  const bool any = rule.component.empty() && rule.mineral.empty();
  for (const auto& [name, pieces] : rates.wall_rates)
    if (any || name == rule.component)
      for (const MineralFlux& p : pieces) note(p.level, p.row, p.flux);
  for (const auto& [name, pieces] : rates.dissolution)
    if (any || name == rule.mineral)
      for (const MineralFlux& p : pieces) note(p.level, p.row, p.flux);
  return indicator_of(rule, std::move(largest));
}

Indicator indicator_of(TransportSystem& s, const Refinement& rule) {
  if (rule.where == Where::front || rule.where == Where::gradient) return concentration_indicator(s, rule);
  if (rule.where == Where::rate) return rate_indicator(s, rule);
  const auto metres = [&] {
    Velocities u = velocities(s.stepper->grid(), s.stepper->flow());
    for (std::vector<double>& of_direction : u)
      for (double& value : of_direction) value *= s.h;
    return u;
  };
  return indicator_of(s.run, rule, {s.stepper->grid(), s.state.time, metres, [&](const std::string& name) {
                                      return s.own_values(component_of(s, name));
                                    }});
}

}  // namespace

bool flag_boxes(TransportSystem& s, const Refinement& rule, AskedBoxes* boxes) {
  const bool of_flow = rule.where == Where::speed || rule.where == Where::vorticity;
  if (of_flow && !s.keeps_flow()) return false;  // that of the flow itself, which goes through time
  return flag_boxes(s.stepper->grid(), rule, indicator_of(s, rule), boxes);
}

}  // namespace karst
