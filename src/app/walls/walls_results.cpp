// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/walls/walls_job.hpp"
#include "app/walls/walls_quantities.hpp"
#include "base/core/format.hpp"

namespace karst {

namespace {

/// Columns of evolution.csv.
void each_column(const Evolution& evolution, const EvolutionLine& line, auto&& reader) {
  each_quantity(line, reader(""));
  for (std::size_t m = 0; m < evolution.minerals.size(); ++m)
    each_quantity(line.minerals[m], evolution.minerals[m].molar_volume, reader(evolution.minerals[m].name + '_'));
  reader("")(Quantity{"pore_volumes", "", shown::csv}, double{line.pore_volumes});
}

Json minerals_json(const Evolution& evolution, const EvolutionLine& line, unsigned where) {
  Json minerals = Json::array();
  for (std::size_t m = 0; m < evolution.minerals.size(); ++m) {
    const MineralMotion& motion = evolution.minerals[m];
    Json mineral{{"name", motion.name}, {"moves", motion.moves()}, {"deposit", motion.deposit}};
    each_quantity(line.minerals[m], motion.molar_volume, ToJson{mineral, where});
    minerals.push_back(std::move(mineral));
  }
  return minerals;
}

Json instant_json(const Evolution& evolution, const EvolutionLine& line) {
  Json json = json_of(line, shown::json);
  json["minerals"] = minerals_json(evolution, line, shown::json);
  return json;
}

/// From the first to the last instant.
std::string change(const char* digits, double from, double to) {
  return text_number(digits, from) + " -> " + text_number(digits, to);
}

}  // namespace

void add_step(EvolutionLine line, Evolution& evolution) {
  constexpr std::size_t most = 1000;
  std::vector<EvolutionLine>& states = evolution.states;
  if (evolution.steps % evolution.stride == 0)
    states.push_back(std::move(line));
  else
    states.back() = std::move(line);
  ++evolution.steps;
  if (states.size() <= most || evolution.steps % (2 * evolution.stride) != 0) return;
  for (std::size_t i = 1; 2 * i < states.size(); ++i) states[i] = std::move(states[2 * i]);
  states.resize((states.size() + 1) / 2);
  evolution.stride *= 2;
}

std::string evolution_header(const Evolution& evolution) {
  EvolutionLine any;
  any.minerals.resize(evolution.minerals.size());
  return csv_head_of([&](auto&& reader) { each_column(evolution, any, reader); });
}

std::string evolution_line(const Evolution& evolution, const EvolutionLine& line) {
  return csv_line_of([&](auto&& reader) { each_column(evolution, line, reader); });
}

std::string evolution_text(const Evolution& evolution, const std::vector<std::pair<std::string, std::string>>& more) {
  const EvolutionLine &first = evolution.states.front(), &last = evolution.states.back();
  std::string text = fmt::format("Moving walls: {} steps to {}\n", evolution.steps, format_si(last.time, "s"));
  const auto row = [&](const std::string& label, const std::string& values) {
    text += fmt::format("  {:<42} {}\n", label, values);
  };
  row("porosity", change("{:.5f}", first.porosity, last.porosity));
  row("specific surface [1/m]", change("{:.4g}", first.specific_surface, last.specific_surface));
  for (int d = 0; d < 3; ++d)
    if (std::isfinite(first.permeability[d]))
      row(fmt::format("permeability along {} [m2]", axis_names[d]),
          change("{:.4g}", first.permeability[d], last.permeability[d]));
  for (std::size_t m = 0; m < evolution.minerals.size(); ++m) {
    const MineralMotion& mineral = evolution.minerals[m];
    const MovingMineralLine &was = first.minerals[m], &is = last.minerals[m];
    row(fmt::format("wall of {} [m2]", mineral.name), change("{:.4g}", was.area, is.area));
    if (!mineral.moves()) continue;
    row(fmt::format("  dissolved volume [m3]"), text_number("{:.5g}", is.dissolved));
    if (mineral.molar_volume > 0.0)
      row("  dissolved [mol]", text_number("{:.5g}", is.dissolved / mineral.molar_volume));
    if (is.carried_away > 0.0) row("  carried away as solid [m3]", text_number("{:.5g}", is.carried_away));
    if (is.carried_away > 0.0 && mineral.molar_volume > 0.0)
      row("  carried away as solid [mol]", text_number("{:.5g}", is.carried_away / mineral.molar_volume));
  }
  row("dissolved, and walls yet to be moved [m3]", text_number("{:.2e}", last.owed));
  for (const auto& [label, value] : more) row(label, value);
  return text;
}

std::string evolution_headline(const Evolution& evolution) {
  const EvolutionLine &first = evolution.states.front(), &last = evolution.states.back();
  std::string text =
      fmt::format("Porosity from {:.5f} to {:.5f} in {}", first.porosity, last.porosity, format_si(last.time, "s"));
  for (int d = 0; d < 3; ++d)
    if (std::isfinite(first.permeability[d]))
      text += fmt::format("; permeability along {} {}", axis_names[d],
                          change("{:.4g}", first.permeability[d], last.permeability[d]) + " m²");
  return text + '\n';
}

Json evolution_json(const Evolution& evolution) {
  Json json{{"steps", evolution.steps},
            {"end_s", evolution.states.back().time},
            {"ended_by", evolution.ended_by},
            {"first", instant_json(evolution, evolution.states.front())},
            {"last", instant_json(evolution, evolution.states.back())}};
  Json history = Json::object(), minerals = Json::array();
  for (std::size_t m = 0; m < evolution.minerals.size(); ++m)
    minerals.push_back({{"name", evolution.minerals[m].name}});
  for (const EvolutionLine& line : evolution.states) {
    each_quantity(line, OverTime{history});
    for (std::size_t m = 0; m < evolution.minerals.size(); ++m)
      each_quantity(line.minerals[m], evolution.minerals[m].molar_volume, OverTime{minerals[m]});
  }
  history["minerals"] = std::move(minerals);
  json["history"] = std::move(history);
  return json;
}

namespace {

/// Beside transport in time walls move by a distance at a time, and are behind or ahead of what has dissolved between.
void tell_of_lag(const JobContext& run, const EvolutionLine& end, Messages& found) {
  constexpr double much_of_dissolved = 0.1, much_of_pores = 1e-3;
  const Vec3& size = run.sample_grid().size;
  const double volume = size[0] * size[1] * size[2], owed = std::abs(end.owed);
  if (!(owed > much_of_dissolved * std::abs(end.dissolved) && owed > much_of_pores * end.porosity * volume)) return;
  found.add(
      "walls: at the end they are {} what has dissolved, as they move by walls.displacement = {:g} cells at a time: "
      "the porosity is {:.5g}, and {:.5g} by what has dissolved; permeability and area of the wall are those of the "
      "wall as it is. Use a smaller walls.displacement",
      end.owed * end.dissolved > 0.0 ? "behind" : "ahead of", run.config.walls.displacement, end.porosity,
      end.porosity + end.owed / volume);
}

}  // namespace

std::vector<std::string> evolution_warnings(const JobContext& run, const Evolution& evolution) {
  constexpr double largest_capacity = 0.05, largest_damkohler = 1.0;
  const TransportDeck& transport = run.config.transport;
  const EvolutionLine& end = evolution.states.back();
  Messages found;
  if (!evolution.ended_by.empty() && !evolution.as_asked)
    found.add("the walls stopped moving at t = {:g} s, before time.end: {}", end.time, evolution.ended_by);
  tell_of_lag(run, end, found);
  for (std::size_t m = 0; m < evolution.minerals.size(); ++m) {
    const MineralMotion& mineral = evolution.minerals[m];
    if (!mineral.driver || mineral.by_chemistry) continue;
    const std::string& name = mineral.name;
    const auto component = std::ranges::find(transport.components, mineral.driver->name, &ComponentDeck::name);
    double most = component->inlet_table || component->inlet_of_place ? 0.0 : std::abs(value_at(component->inlet, 0.0));
    for (const WallDeck& law : transport.walls) most = std::max(most, std::abs(law.equilibrium));
    const double capacity = std::abs(mineral.driver->volume) * most;
    if (transport.steady() && capacity > largest_capacity)
      found.add(
          "walls, {}: molar volume times concentration is {:.2g}: the wall is not slow against the concentration, "
          "which is taken as steady; use transport in time (without transport.mode)",
          name, capacity);
    if (!(end.minerals[m].dissolved < 0.0)) continue;
    for (const WallDeck& law : transport.walls) {
      const double width = run.grid.cell_width() * std::ldexp(1.0, 1 - static_cast<int>(run.geometry().levels.size()));
      const double number = component->diffusivity > 0.0 ? law.rate * width / component->diffusivity : 0.0;
      if ((law.mineral.empty() || law.mineral == name) && number > largest_damkohler)
        found.add(
            "walls, {}: it grows, and rate x cell width / diffusivity is {:.3g}: growth that diffusion limits is "
            "unstable, so it is kept smooth over about four cells along the wall, and shapes of that size are not "
            "resolved",
            name, number);
    }
  }
  return found;
}

}  // namespace karst
