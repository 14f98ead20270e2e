// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_system.hpp"

#include <algorithm>

#include "app/job/run_services.hpp"
#include "base/math/no_number.hpp"

namespace karst {

WallsInStep walls_in_step(const TransportSystem& system) {
  const JobContext& run = system.run;
  WallsInStep walls{wall_places(run.geometry(), *run.ground->numbering()), surface_laws(run), {}, {}};
  for (std::size_t i = 0; i < system.numbers.components.size(); ++i) {
    if (system.is_total(i)) continue;  // totals come last, and minerals act on them, not laws of the wall
    const std::vector<double> amounts = system.stepper->wall_amounts(i);
    const bool known = !system.moved_since_step;
    std::vector<double>& flux = walls.flux.emplace_back(walls.places.size(), known ? 0.0 : no_number);
    for (std::size_t n = 0; n < flux.size() && known && !amounts.empty(); ++n)
      flux[n] = system.h * amounts[walls.places[n].unknown] / (system.report.step * walls.places[n].area);
    walls.maps.push_back(
        wall_map(run, walls.places, run.config.transport.components[i], walls.laws[i], flux, system.own_values(i)));
  }
  return walls;
}

void leave_wall_rates(const TransportSystem& system, Exchanges& exchanges) {
  if (system.chemistry) system.chemistry->leave_dissolution(system.report.step, exchanges);
  const WallsInStep walls = walls_in_step(system);
  for (std::size_t i = 0; i < walls.maps.size(); ++i) {
    const std::string& name = system.numbers.components[i].name;
    exchanges.wall_rates[name] = mineral_fluxes(system.run, walls.places, walls.maps[i], walls.laws[i], walls.flux[i]);
    const std::span<const double> own = system.own_values(i);
    std::vector<double>& at_wall = exchanges.at_walls[name];
    at_wall.assign(own.begin(), own.end());
    for (std::size_t n = 0; n < walls.places.size(); ++n)
      at_wall[walls.places[n].unknown] = std::clamp(double{walls.maps[i].concentration[n]}, system.state.range[i].least,
                                                    system.state.range[i].largest);
  }
}

void take_walls_behind(const WallsBehind& walls, double dt, TransportSystem& system) {
  constexpr double most_of_range = 0.1;  // where profiles are steeper than the grid can tell
  std::vector<double> change;
  for (std::size_t i = 0; i < system.numbers.components.size(); ++i) {
    const auto slope = walls.slope.find(system.numbers.components[i].name);
    change.assign(slope == walls.slope.end() ? 0 : system.own_values(i).size(), 0.0);
    const double most = most_of_range * (system.state.range[i].largest - system.state.range[i].least);
    for (std::size_t n = 0; n < walls.unknown.size() && !change.empty(); ++n)
      change[walls.unknown[n]] =
          std::clamp((walls.distance[n] + 0.5 * dt * walls.speed[n]) * slope->second[n], -most, most);
    system.stepper->set_beyond_wall(i, change);
  }
}

}  // namespace karst
