// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/solution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <sstream>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "chemistry/water.hpp"

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;
using std::numbers::ln10;
constexpr double kelvin_0 = 273.15;

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// What a unit counts: an amount (moles, grams, equivalents) of `factor` per what.
struct Unit {
  enum class Of : std::uint8_t { moles, grams, equivalents } of = Of::moles;
  enum class Per : std::uint8_t { water, solution, litre } per = Per::water;
  double factor = 1.0;
};

std::optional<Unit> unit_of(const std::string& text) {
  for (const auto& [name, factor] : {std::pair{"ppt", 1.0}, std::pair{"ppm", 1e-3}, std::pair{"ppb", 1e-6}})
    if (text == name) return Unit{Unit::Of::grams, Unit::Per::solution, factor};
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::string amount = text.substr(0, slash);
  const std::string per = text.substr(slash + 1);
  Unit unit;
  if (per == "kgw")
    unit.per = Unit::Per::water;
  else if (per == "kgs")
    unit.per = Unit::Per::solution;
  else if (per == "L" || per == "l")
    unit.per = Unit::Per::litre;
  else
    return std::nullopt;
  const bool prefixed = amount != "mol" && amount.size() > 1 && (amount.front() == 'm' || amount.front() == 'u');
  if (prefixed) unit.factor = amount.front() == 'm' ? 1e-3 : 1e-6;
  if (prefixed) amount.erase(0, 1);
  if (amount == "mol")
    unit.of = Unit::Of::moles;
  else if (amount == "g")
    unit.of = Unit::Of::grams;
  else if (amount == "eq")
    unit.of = Unit::Of::equivalents;
  else
    return std::nullopt;
  return unit;
}

Unit checked_unit(const SolutionTotal& total, const std::string& fallback) {
  const std::string& text = total.units.empty() ? fallback : total.units;
  const std::optional<Unit> unit = unit_of(text);
  require(unit.has_value(),
          "units \"{}\" are unknown; expected: mol, g or eq (or mmol, umol, mg, ug, meq) per kgw, kgs or L, or ppt, "
          "ppm, ppb",
          text);
  require(unit->of != Unit::Of::equivalents || total.element == "Alkalinity",
          "{}: units \"{}\" are for alkalinity only", total.element, text);
  return *unit;
}

/// Grams of a mole, or of an equivalent of alkalinity.
double grams(const Database& database, const SolutionTotal& total) {
  const bool calcite = total.element == "Alkalinity" && total.counted_as == "CaCO3";  // two equivalents
  const MasterSpecies& m = require_element(database, total.element);
  const std::string& text = total.counted_as.empty() ? m.counted_as : total.counted_as;
  const double weight = database.gram_formula_weight(text) * (calcite ? 0.5 : 1.0);
  require(weight > 0.0, "{}: a weight of {} g/mol is impossible", total.element, weight);
  return weight;
}

/// The words of a total after its number.
void take_extras(std::istringstream& words, SolutionTotal& total) {
  for (std::string word; words >> word;) {
    if (word == "as" || word == "gfw") {
      require(static_cast<bool>(words >> total.counted_as), "{}: a formula is missing after {}", total.element, word);
    } else if (word == "charge") {
      total.by_charge = true;
    } else if (unit_of(word) || word.find('/') != std::string::npos) {
      total.units = word;
    } else if (const std::size_t molar = word.find('M'); molar + 1 == word.size() && molar <= 2) {  // µ has two bytes
      require(false, "{}: '{}' is no unit here; write {}mol/l", total.element, word, word.substr(0, molar));
    } else {
      require(total.phase.empty() || as_number(word), "{}: '{}' is not understood", total.element, word);
      if (total.phase.empty())
        total.phase = word;
      else
        total.index = *as_number(word);
    }
  }
  require(!total.by_charge || total.phase.empty(), "{}: its amount follows from the charge or from {}, not from both",
          total.element, total.phase);
}

SolutionCondition condition_of_ph(const ChemicalSystem& system, const std::string& text) {
  if (text == "charge") return {Kind::charge, 0.0};
  if (const auto number = as_number(text)) {
    require(*number >= -2.0 && *number <= 16.0, "pH {} is outside -2 to 16", *number);
    return {Kind::activity, -*number * ln10};
  }
  std::istringstream words(text);
  std::string phase, index;
  words >> phase >> index;
  require(!phase.empty(), "pH is empty; expected: a number, \"charge\", or a phase that it follows from");
  require(index.empty() || as_number(index), "pH \"{}\": '{}' is not a saturation index", text, index);
  return saturation(system, phase, index.empty() ? 0.0 : *as_number(index));
}

/// Its name with the valence, where the database tells valences of the element apart: "Fe(2)" of Fe+2.
std::string with_valence(const Database& database, const MasterSpecies& master) {
  for (const MasterSpecies& m : database.masters)
    if (m.species == master.species && m.element.ends_with(')')) return m.element;
  return master.element;
}

/// Element that a total is of in the system: alkalinity stands in place of a total of carbonate, of which the valence
/// is named beside other valences.
std::string element_of(const Database& database, const SolutionTotal& total, const std::vector<SolutionTotal>& all) {
  if (total.element != "Alkalinity") return total.element;
  const MasterSpecies* alkalinity = database.master("Alkalinity");
  require(alkalinity != nullptr, "Alkalinity: database {} does not define it", database.name);
  for (const MasterSpecies& m : database.masters)
    if (m.species == alkalinity->species && m.element != "Alkalinity") {
      const bool apart = std::ranges::any_of(
          all, [&](const SolutionTotal& other) { return other.element.starts_with(m.element + '('); });
      return apart ? with_valence(database, m) : m.element;
    }
  throw Error(
      fmt::format("Alkalinity: no element of database {} has the species {}", database.name, alkalinity->species));
}

std::vector<SolutionCondition> conditions_of(const ChemicalSystem& system, const SolutionOptions& options,
                                             const std::vector<SolutionTotal>& totals,
                                             const std::vector<double>& amounts) {
  std::vector<SolutionCondition> conditions{condition_of_ph(system, options.ph)};
  int by_charge = options.ph == "charge" ? 1 : 0;
  for (std::size_t t = 0; t < totals.size(); ++t) {
    const SolutionTotal& total = totals[t];
    by_charge += total.by_charge ? 1 : 0;
    if (!total.phase.empty())
      conditions.push_back(saturation(system, total.phase, total.index));
    else if (total.by_charge)
      conditions.push_back({Kind::charge, 0.0});
    else
      conditions.push_back({total.element == "Alkalinity" ? Kind::alkalinity : Kind::total, amounts[t]});
  }
  require(by_charge <= 1, "the charge balance can fix one amount, not {}", by_charge);
  return conditions;
}

/// Totals that follow from the charge or a phase begin at the amount that is given with them.
void begin_at_amounts(const std::vector<double>& amounts, Speciation& state) {
  for (std::size_t t = 0; t < amounts.size(); ++t)
    if (amounts[t] > 0.0) state.basis[t + 1] = std::log(amounts[t]);
}

void require_solved(const Solution& solution, bool converged) {
  std::string given;
  for (const std::string& t : solution.options.totals) given += fmt::format("\n    {}", t);
  require(converged,
          "no composition satisfies all conditions: pH {}, {} °C, {}\n"
          "  Is there an amount that balances the charge, or a phase that these elements can bring to saturation? As "
          "input of PHREEQC:\n"
          "  SOLUTION 1\n"
          "    temp {}\n"
          "    pH {}\n"
          "    units {}{}",
          solution.options.ph, solution.options.temperature, solution.options.units, solution.options.temperature,
          solution.options.ph == "charge" ? "7 charge" : solution.options.ph, solution.options.units, given);
}

/// Master species that a phase dissolves into: its reaction, every other species in turn written as it is formed.
/// Throws Error where that takes electrons.
std::vector<const MasterSpecies*> masters_of_phase(const Database& database, const DatabasePhase& phase) {
  std::vector<const MasterSpecies*> masters;
  std::vector<std::string> open, seen{"H2O", "H+"};
  const auto add_all = [&](const std::vector<ReactionTerm>& terms) {
    for (const ReactionTerm& t : terms) {
      if (std::ranges::count(seen, t.species) > 0) continue;
      require(t.species != "e-",
              "phase {}: its reaction in database {} transfers electrons (e-) between valences of an element; this is "
              "not supported",
              phase.name, database.name);
      seen.push_back(t.species);
      open.push_back(t.species);
    }
  };
  add_all(phase.dissolved);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto m = std::ranges::find_if(database.masters, [&](const MasterSpecies& master) {
      return master.species == name && master.element != "Alkalinity";
    });
    if (m != database.masters.end())
      masters.push_back(&*m);
    else if (const DatabaseSpecies* species = database.find_species(name))
      add_all(species->from);
  }
  std::ranges::sort(masters, {}, &MasterSpecies::element);
  return masters;
}

/// Adds a total of 0 unless there is one of this master species. Beside other valences of its element the valence is
/// named, and so is that of a total of 0 without a valence, which then is one of many.
void add_element(const Database& database, const std::string& phase, const MasterSpecies& master,
                 SolutionOptions& options) {
  const std::string element = element_name(master.element);
  std::string added = master.element;
  std::vector<std::string> named = options.totals;
  for (std::string& text : named) {
    const SolutionTotal total = parse_total(text);
    const MasterSpecies* other = database.master(total.element);
    if (other == nullptr) continue;  // solve_solution() says so
    if (other->species == master.species) return;
    if (element_name(total.element) != element) continue;
    added = with_valence(database, master);
    if (total.element != element) continue;
    const std::string valence = with_valence(database, *other);
    require(total.value == 0.0 && !total.by_charge && total.phase.empty(),
            "phase {}: it contains {}, but all {} of the solution is {}, and there are no redox reactions; write {} "
            "instead of {} if that is meant",
            phase, added, element, valence, valence, element);
    text.replace(text.find(element), element.size(), valence);
  }
  options.totals = std::move(named);
  options.totals.push_back(added + " 0");
}

}  // namespace

SolutionCondition saturation(const ChemicalSystem& system, const std::string& phase, double index) {
  const int number = system.phase(phase);
  std::vector<std::string> names;
  for (const SystemPhase& p : system.phases) names.push_back(p.name);
  require(number >= 0, "phase {} contains elements that are not in the solution, or is not in the database{}", phase,
          or_rather(phase, names));
  const SystemPhase& p = system.phases[number];
  double ln_omega = index * ln10;
  if (p.is_gas && p.critical_temperature > 0.0 && p.critical_pressure > 0.0)
    ln_omega += std::log(fugacity_coefficient(system.kelvin, std::pow(10.0, index), p.critical_temperature,
                                              p.critical_pressure, p.acentric));
  return {Kind::saturation, ln_omega, number};
}

SolutionTotal parse_total(std::string_view text) {
  std::istringstream words{std::string(text)};
  SolutionTotal total;
  std::string number;
  words >> total.element >> number;
  require(!total.element.empty(), "an empty total; expected: an element and its amount, \"Ca 1e-3\"");
  const std::optional<double> value = as_number(number);
  require(value.has_value(), "\"{}\": '{}' is not an amount; expected: an element and its amount, \"Ca 1e-3\"", text,
          number);
  require(*value >= 0.0 || total.element == "Alkalinity", "\"{}\": an amount cannot be negative", text);
  total.value = *value;
  take_extras(words, total);
  return total;
}

bool has_totals_per_litre(const SolutionOptions& options) {
  const auto per_litre = [&](const std::string& text) {
    try {
      const SolutionTotal total = parse_total(text);
      const std::optional<Unit> unit = unit_of(total.units.empty() ? options.units : total.units);
      return unit && unit->per == Unit::Per::litre;
    } catch (const Error&) {
      return false;
    }
  };
  return std::ranges::any_of(options.totals, per_litre);
}

std::vector<double> amounts_per_water(const Database& database, const SolutionOptions& options,
                                      const std::vector<SolutionTotal>& totals) {
  // First per kilogram of water or of solution, with the grams of solutes in a kilogram of each.
  std::vector<double> amounts;
  std::vector<bool> of_solution;
  double grams_per_solution = 0.0, grams_per_water = 0.0;
  for (const SolutionTotal& total : totals) {
    const Unit unit = checked_unit(total, options.units);
    const double weight = grams(database, total);
    double amount = total.value * unit.factor / (unit.of == Unit::Of::grams ? weight : 1.0);
    if (unit.per == Unit::Per::litre) amount /= options.density;
    of_solution.push_back(unit.per != Unit::Per::water);
    amounts.push_back(amount);
    (unit.per == Unit::Per::water ? grams_per_water : grams_per_solution) += std::max(amount, 0.0) * weight;
  }
  require(grams_per_solution < 1000.0, "the solutes weigh {:.4g} g in a kilogram of solution", grams_per_solution);
  // A kilogram of solution holds 1 / (1 + w) (1 - s) kilograms of water: s of its grams are solutes per solution, w the
  // others per water.
  const double water = (1.0 - 1e-3 * grams_per_solution) / (1.0 + 1e-3 * grams_per_water);
  for (std::size_t t = 0; t < amounts.size(); ++t)
    if (of_solution[t]) amounts[t] /= water;
  return amounts;
}

void require_usable_phase(const Database& database, const std::string& phase) {
  masters_of_phase(database, require_phase(database, phase));
}

void add_elements_of_phase(const Database& database, const std::string& phase, SolutionOptions& options) {
  for (const MasterSpecies* m : masters_of_phase(database, require_phase(database, phase)))
    add_element(database, phase, *m, options);
}

namespace {

std::vector<std::string> valences_taken(const Database& database, const std::vector<std::string>& elements) {
  std::vector<std::string> all;
  for (const std::string& element : elements) {
    const MasterSpecies* const master = database.master(element);
    if (element.find('(') != std::string::npos || master == nullptr || master->species == "CO3-2") continue;
    std::string taken, others;
    for (const MasterSpecies& m : database.masters)
      if (m.element.starts_with(element + '(')) {
        std::string& to = m.species == master->species ? taken : others;
        to += (to.empty() ? "" : ", ") + m.element;
      }
    if (!taken.empty() && !others.empty())
      all.push_back(fmt::format("{} is taken as {}, not {}", element, taken, others));
  }
  return all;
}

}  // namespace

Solution solve_solution(const Database& database, const SolutionOptions& options) {
  try {
    Solution solution;
    solution.options = options;
    std::vector<SolutionTotal> totals;
    std::vector<std::string> elements;
    for (const std::string& text : options.totals) totals.push_back(parse_total(text));
    for (const SolutionTotal& total : totals) elements.push_back(element_of(database, total, totals));
    const std::vector<double> amounts = amounts_per_water(database, options, totals);
    solution.system = make_system(database, elements, options.temperature + kelvin_0);
    solution.conditions = conditions_of(solution.system, options, totals, amounts);
    solution.state = cold_start(solution.system, solution.conditions);
    begin_at_amounts(amounts, solution.state);
    SpeciationWorkspace work;
    require_solved(solution, speciate(solution.system, solution.conditions, solution.state, work));
    solution.valences = valences_taken(database, elements);
    return solution;
  } catch (const Error& e) {
    throw Error(fmt::format("solution {}: {}", options.name, e.what()));
  }
}

double index_of_phase(const Solution& s, int phase) {
  for (const auto& [primary, coefficient] : s.system.phases[phase].dissolved.basis)
    if (primary > 0 && total_of(s.system, s.state, primary) <= 2.0 * least_amount) return no_number;
  return saturation_index(s.system, s.state, phase);
}

}  // namespace karst
