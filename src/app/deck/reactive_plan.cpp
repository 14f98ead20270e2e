// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/reactive_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "chemistry/charge_error.hpp"
#include "eb/geometry.hpp"
#include "eb/mineral_choice.hpp"

namespace karst {

namespace {

constexpr double kelvin_0 = 273.15;
constexpr const char* all_walls = "all";

/// Place of a named solution; notes a mistake where there is none.
std::size_t place_of(Reader& in, const ChemistryDeck& deck, const std::string& key, const std::string& name) {
  std::vector<std::string> names;
  for (const SolutionOptions& s : deck.solutions) names.push_back(s.name);
  if (name.empty() && names.size() == 1) return 0;
  const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  if (at < names.size()) return at;
  in.mistake(key, name.empty() ? fmt::format("missing; expected: one of the solutions {}", join(names))
                               : fmt::format("\"{}\" is no solution{}; there are: {}", name, did_you_mean(name, names),
                                             join(names)));
  return 0;
}

/// A solution that names all elements of those that are used (`all`) and of the minerals. Throws Error.
Solution solved(const Database& database, const ChemistryDeck& deck, const std::optional<PhreeqcFiles>& phreeqc,
                std::size_t which, std::span<const std::size_t> all) {
  SolutionOptions options = deck.solutions[which];
  std::vector<std::string> there;
  const auto species_of = [&](const std::string& element) {
    const MasterSpecies* m = database.master(element == "Alkalinity" ? "C(4)" : element);
    return m == nullptr ? element : m->species;
  };
  for (const std::string& total : options.totals) there.push_back(species_of(parse_total(total).element));
  for (const std::size_t other : all)
    for (const std::string& total : deck.solutions[other].totals) {
      const std::string element = parse_total(total).element == "Alkalinity" ? "C(4)" : parse_total(total).element;
      if (std::ranges::count(there, species_of(element)) > 0) continue;
      options.totals.push_back(fmt::format("{} 0", element));
      there.push_back(species_of(element));
    }
  for (const MineralDeck& m : deck.minerals)
    if (!m.options.rates.empty())  // else what is wrong has been noted
      add_elements_of_phase(database, m.options.phase, options);
  for (const EquilibriumOptions& e : deck.equilibria) add_elements_of_phase(database, e.phase, options);
  return phreeqc ? solve_with_phreeqc(*phreeqc, database, options) : solve_solution(database, options);
}

bool goes_well(const auto& call) try {
  call();
  return true;
} catch (const Error&) {
  return false;
}

bool readable(const SolutionOptions& solution) {
  return goes_well([&] { std::ranges::for_each(solution.totals, parse_total); });
}

/// By itself, without the elements of others.
bool solvable(const Database& database, const SolutionOptions& solution) {
  return goes_well([&] { solve_solution(database, solution); });
}

/// Notes what is wrong with it. Empty then, and where reading has noted it.
std::optional<Solution> try_solved(Reader& in, const std::optional<Database>& database, const ChemistryDeck& deck,
                                   std::size_t which, std::span<const std::size_t> all) {
  if (database && std::ranges::all_of(all, [&](std::size_t s) { return readable(deck.solutions[s]); })) try {
      return solved(*database, deck, has_phreeqc() ? phreeqc_files(deck, in.directory()) : std::nullopt, which, all);
    } catch (const Error& e) {
      const bool of_the_other =  // where it is noted
          solvable(*database, deck.solutions[which]) && std::ranges::any_of(all, [&](std::size_t s) {
            return s != which && !solvable(*database, deck.solutions[s]);
          });
      if (!of_the_other) in.mistake(fmt::format("chemistry.solution[{}]", which), e.what());
    }
  return std::nullopt;
}

/// Totals of a solution in the order of another system.
std::vector<double> totals_in(const ChemicalSystem& system, const Solution& s) {
  std::vector<double> totals;
  for (std::size_t q = 0; q < system.elements.size(); ++q) {
    const int p = s.system.species_of(system.species[q].name);  // one element may have two names, "C" and "C(4)"
    require(p >= 0 && p < s.system.n_primaries, "solution {}: element {} is missing", s.options.name,
            system.elements[q]);
    const double total = total_of(s.system, s.state, p);
    totals.push_back(q > 0 && total < 1e-29 ? 0.0 : total);  // what a total of 0 is counted as
  }
  return totals;
}

/// What enters of a primary: a number, or a formula of place.
std::string inlet_formula(const ChemistryDeck& deck, const ReactivePlan& plan, std::size_t primary) {
  std::string formula = fmt::format("{:.17g}", plan.inlets.back()[primary]);
  for (std::size_t i = plan.inlets.size() - 1; i-- > 0;)
    formula = fmt::format("({}) ? ({:.17g}) : ({})", deck.inflows[i].where, plan.inlets[i][primary], formula);
  return formula;
}

void add_components(Config& config, ReactivePlan& plan) {
  plan.first = config.transport.components.size();
  for (std::size_t p = 0; p < plan.initial.size(); ++p) {
    ComponentDeck c;
    c.name = plan.medium.system.elements[p];
    c.diffusivity = config.transport.diffusivity;
    c.initial = fmt::format("{:.17g}", plan.initial[p]);
    c.inlet = inlet_formula(config.chemistry, plan, p);
    c.inlet_of_place = !config.chemistry.inflows.empty();
    c.inlet_given = c.inlet_of_place || !config.chemistry.inlet.empty();
    c.initial_given = true;
    c.group = chemistry_group;
    config.transport.components.push_back(std::move(c));
  }
}

/// What does not go together in the deck.
void check_deck(Reader& in, const Config& config) {
  const ChemistryDeck& deck = config.chemistry;
  if (config.transport.steady())
    in.mistake("transport.mode", "\"steady\" is not supported with [chemistry]; remove it: reactions are transient");
  for (std::size_t i = 0; i < config.transport.walls.size(); ++i)
    if (config.transport.walls[i].component.empty())
      in.mistake(
          fmt::format("transport.wall[{}].component", i),
          "missing: with [chemistry] a wall must name the tracer on which it acts; minerals are [[chemistry.mineral]]");
  const bool walls = std::ranges::any_of(deck.minerals, [](const MineralDeck& m) { return !m.wall.empty(); });
  if (walls && config.transport.diffusivity <= 0.0)
    in.mistake("transport.diffusivity", "0, but walls react, and only diffusion transports solutes to them");
}

void check_clashes(Reader& in, const Config& config, const ChemicalSystem& system) {
  for (std::size_t i = 0; i < config.transport.components.size(); ++i)
    if (std::ranges::count(system.elements, config.transport.components[i].name) > 0)
      in.mistake(fmt::format("transport.component[{}].name", i),
                 "\"{}\" is an element of the solutions, too; choose another name",
                 config.transport.components[i].name);
}

/// The solutions of chemistry.inlet, or of [[chemistry.inflow]] in their order; notes what is wrong with them.
std::vector<std::size_t> places_of_inlets(Reader& in, const ChemistryDeck& deck, std::size_t initial) {
  std::vector<std::size_t> inlets;
  const auto add = [&](const std::string& key, const std::string& name) {
    const SolutionOptions& s = deck.solutions[inlets.emplace_back(place_of(in, deck, key, name))];
    if (s.temperature != deck.solutions[initial].temperature)
      in.mistake(key, "{:g} C, but the initial solution has {:g} C: both must have the same temperature", s.temperature,
                 deck.solutions[initial].temperature);
  };
  for (std::size_t i = 0; i < deck.inflows.size(); ++i)
    add(fmt::format("chemistry.inflow[{}].solution", i), deck.inflows[i].solution);
  if (deck.inflows.empty()) add("chemistry.inlet", deck.inlet);
  return inlets;
}

/// What is in every cell. Throws Error.
void add_bulk(const Database& database, const ChemistryDeck& deck, const Solution& start, ReactivePlan& plan) {
  VesselOptions parts{deck.sorbents, {}, deck.equilibria};
  for (const MineralDeck& m : deck.minerals) parts.minerals.push_back(m.options);
  const bool minerals = std::ranges::any_of(parts.minerals, [](const MineralOptions& m) { return m.area > 0.0; });
  if (minerals || !deck.sorbents.empty() || !deck.equilibria.empty()) plan.bulk = make_vessel(database, start, parts);
}

/// Minerals and species in the system; notes mistakes.
void add_minerals(Reader& in, const ChemistryDeck& deck, const Solution& start, ReactivePlan& plan) {
  const ChemicalSystem& system = start.system;
  std::vector<SurfaceReaction> minerals;
  for (std::size_t m = 0; m < deck.minerals.size(); ++m) {
    const MineralOptions& options = deck.minerals[m].options;
    if (options.rates.empty()) continue;  // a mistake that has been noted
    in.attempt(fmt::format("chemistry.mineral[{}].rates", m), [&] {
      minerals.push_back(make_surface_reaction(system, options));
      const SystemPhase& phase = system.phases[minerals.back().mineral.phase];
      require(!phase.is_gas, "{} is a gas, not a mineral", options.phase);
      require(!deck.minerals[m].deposit || phase.molar_volume > 0.0,
              "a deposit has a thickness, but the database has no molar volume (-Vm) of {}", options.phase);
    });
  }
  plan.medium = make_medium(system, std::move(minerals), start.state);
  std::vector<std::string> names;
  for (const SystemSpecies& s : system.species) names.push_back(s.name);
  for (const std::string& name : deck.species)
    if (const int species = system.species_of(name); species >= 0)
      plan.species.push_back(species);
    else
      in.mistake("chemistry.species", "\"{}\" is no species of these solutions{}", name, or_rather(name, names));
}

RunWater water_of(const Solution& s, const ReactivePlan& plan) {
  RunWater water{s.options.name, "", ph_of(s.state), s.state.ionic_strength, charge_error(s), no_number, no_number, {}};
  water.inorganic_carbon = inorganic_carbon_of(s.system, s.state);
  if (!std::isnan(water.inorganic_carbon)) {
    constexpr double of_a_sum = 1e-13;  // over ions: round-off
    const double alkalinity = alkalinity_of(s.system, s.state);
    water.alkalinity = std::abs(alkalinity) < of_a_sum * water.ionic_strength ? 0.0 : alkalinity;
  }
  for (const SurfaceReaction& r : plan.reactions())
    water.saturation.push_back(index_of_phase(s, s.system.phase(plan.medium.system.phases[r.mineral.phase].name)));
  return water;
}

std::string use_of(const ChemistryDeck& deck, std::size_t solution, std::size_t initial,
                   std::span<const std::size_t> inlets) {
  const bool enters = std::ranges::count(inlets, solution) > 0 && !(deck.inlet.empty() && deck.inflows.empty());
  return fmt::format("{}{}{}", solution == initial ? "initial" : "", solution == initial && enters ? ", " : "",
                     enters ? "inlet" : "");
}

}  // namespace

void add_chemistry(Reader& in, Config& config) {
  const ChemistryDeck& deck = config.chemistry;
  check_deck(in, config);
  const std::size_t initial = place_of(in, deck, "chemistry.initial", deck.initial);
  const std::vector<std::size_t> inlets = places_of_inlets(in, deck, initial);
  std::vector<std::size_t> all{initial};  // each once
  for (const std::size_t inlet : inlets)
    if (std::ranges::count(all, inlet) == 0) all.push_back(inlet);
  auto plan = std::make_shared<ReactivePlan>();
  const std::optional<Database> database = read_database_of(in, config.chemistry);
  std::vector<Solution> solutions;  // in the order of `all`
  for (const std::size_t s : all)
    if (std::optional<Solution> solution = try_solved(in, database, deck, s, all))
      solutions.push_back(*std::move(solution));
  if (solutions.size() < all.size()) {
    config.transport.components.emplace_back();  // so that nothing else misses one
    return;
  }
  const Solution& start = solutions.front();
  try {
    plan->left_out = left_out(*database);
    plan->database = database->fingerprint;
    plan->phreeqc = phreeqc_files(deck, in.directory());
    add_minerals(in, deck, start, *plan);
    if (plan->medium.minerals.size() == deck.minerals.size()) add_bulk(*database, deck, start, *plan);
    plan->initial = totals_in(start.system, start);
    for (const std::size_t inlet : inlets)
      plan->inlets.push_back(totals_in(start.system, solutions[std::ranges::find(all, inlet) - all.begin()]));
    plan->water = 1e3 * water_density(deck.solutions[initial].temperature + kelvin_0);
    for (const Solution& s : solutions) {
      plan->warnings.add(solution_warnings(s));
      plan->waters.push_back(water_of(s, *plan));
    }
    for (std::size_t i = 0; i < all.size(); ++i) plan->waters[i].use = use_of(deck, all[i], initial, inlets);
  } catch (const Error& e) {
    config.transport.components.emplace_back();  // so that nothing else misses one
    return in.mistake("chemistry", e.what());
  }
  check_clashes(in, config, plan->medium.system);
  add_components(config, *plan);
  config.reactive = std::move(plan);
}

bool lies_on(const MineralDeck& mineral, const std::string& wall) {
  return mineral.wall == all_walls ? wall != surroundings : !mineral.wall.empty() && mineral.wall == wall;
}

double molar_volume_of(const ReactivePlan& plan, std::size_t reaction) {
  constexpr double cubic_centimetre = 1e-6;
  const ChemicalSystem& system = plan.medium.system;
  return cubic_centimetre * system.phases[plan.reactions()[reaction].mineral.phase].molar_volume;
}

std::vector<double> covers_of(const Config& config) {
  const std::vector<MineralDeck>& minerals = config.chemistry.minerals;
  if (std::ranges::count(minerals, true, &MineralDeck::deposit) == 0) return {};
  std::vector<double> covers;
  for (std::size_t m = 0; m < minerals.size(); ++m) {
    const double volume = minerals[m].fraction * molar_volume_of(*config.reactive, m);
    covers.push_back(minerals[m].deposit ? minerals[m].cover / volume : 0.0);
  }
  return covers;
}

bool moved_by_chemistry(const Config& config, const MovingMineral& mineral) {
  return config.reactive != nullptr && mineral.component.empty() &&
         std::ranges::any_of(config.chemistry.minerals, [&](const MineralDeck& m) {
           return mineral.name.empty() ? !m.wall.empty() : lies_on(m, mineral.name);
         });
}

bool sorbs(const ReactivePlan& plan, std::size_t primary) {
  if (!plan.bulk) return false;
  const ChemicalSystem& system = plan.bulk->medium.system;
  for (auto i = static_cast<std::size_t>(system.n_dissolved); i < system.species.size(); ++i)
    for (const auto& [b, c] : system.species[i].formed.basis)
      if (static_cast<std::size_t>(b) == primary) return true;
  return false;
}

int n_fields(const Config& config) {
  if (config.reactive == nullptr) return 0;
  const ReactivePlan& plan = *config.reactive;
  std::size_t n = 1 + plan.reactions().size() + plan.species.size() +
                  std::ranges::count(config.chemistry.minerals, true, &MineralDeck::deposit);
  if (plan.bulk)
    n += plan.reactions().size() -
         std::ranges::count_if(config.chemistry.minerals, [](const MineralDeck& m) { return !m.wall.empty(); });
  for (std::size_t p = 0; p < plan.initial.size(); ++p) n += sorbs(plan, p) ? 1 : 0;
  return static_cast<int>(n);
}

std::vector<std::string> chemistry_mistakes(const Config& config, const Geometry& geometry) {
  Messages found;
  std::vector<std::string> there;
  for (const MineralWall& mineral : geometry.report.minerals)
    if (mineral.name != surroundings) there.push_back(mineral.name);
  for (std::size_t m = 0; m < config.chemistry.minerals.size(); ++m) {
    const std::string& wall = config.chemistry.minerals[m].wall;
    if (wall.empty() || wall == all_walls || std::ranges::count(there, wall) > 0) continue;
    found.add("chemistry.mineral[{}].wall: the wall has no \"{}\"{}; there are: {}, or \"all\"", m, wall,
              did_you_mean(wall, there), join(there));
  }
  return found;
}

}  // namespace karst
