// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/phreeqc_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/core/error.hpp"

#ifdef KARST_PHREEQCRM
#include <PhreeqcRM.h>
#include <IPhreeqc.hpp>
#endif

namespace karst {

#ifdef KARST_PHREEQCRM

namespace {

using std::numbers::ln10;
constexpr double kelvin_0 = 273.15;
constexpr double water_of_a_kilogram = 1e3 / 18.016;  // [mol], with H 1.008 and O 16, as phreeqc.dat has them
constexpr double least = 1e-300;                      // of a molality, for its logarithm
constexpr double endless = 1e3;                       // [mol] of a mineral that does not end
constexpr const char* knobs = "KNOBS\n -convergence_tolerance 1e-12\n -iterations 400\n";

/// Element as PHREEQC has its total: "S" of "S(6)".
std::string without_valence(const std::string& element) { return element.substr(0, element.find('(')); }

/// Asks for ionic strength, ln a(H2O), of the basis, and molalities; then for what the minerals have changed by.
std::string punch(const ChemicalSystem& system, std::span<const std::string> changes) {
  std::vector<std::string> asked{"MU", "LA(\"H2O\")"};
  for (int p = 0; p < system.n_primaries; ++p) asked.push_back(fmt::format("LA(\"{}\")", system.species[p].name));
  for (int i = 0; i < system.n_dissolved; ++i) asked.push_back(fmt::format("MOL(\"{}\")", system.species[i].name));
  asked.insert(asked.end(), changes.begin(), changes.end());
  std::string text = "SELECTED_OUTPUT 1\n -reset false\nUSER_PUNCH 1\n -headings", lines;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    text += fmt::format(" v{}", k);
    lines += fmt::format(" {} PUNCH {}\n", k + 1, asked[k]);
  }
  return text + "\n" + lines;
}

/// @param value  (k) is the k-th number that punch() asks for
template <class Value>
Speciation state_of(const ChemicalSystem& system, Value&& value) {
  const std::size_t n = system.n_primaries, n_species = system.n_dissolved;
  Speciation state;
  state.converged = true;
  state.ionic_strength = value(0);
  state.ln_water = ln10 * value(1);
  for (std::size_t p = 0; p < n; ++p) state.ln_activity.push_back(ln10 * value(2 + p));
  for (std::size_t i = 0; i < n_species; ++i) state.molality.push_back(value(2 + n + i));
  for (std::size_t p = 0; p < n; ++p) state.basis.push_back(std::log(std::max(least, state.molality[p])));
  return state;
}

/// What the species hold more of water than the primaries that they are written in [mol/kgw].
double water_of(const ChemicalSystem& system, const Speciation& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < state.molality.size(); ++i) sum += system.species[i].formed.water * state.molality[i];
  return sum;
}

/// The name with its valence, where the element alone stands for one: PHREEQC would share it out among all of them.
std::string with_valence(const Database& database, const std::string& element) {
  const MasterSpecies& m = require_element(database, element);
  for (const MasterSpecies& other : database.masters)
    if (other.element.starts_with(element + '(') && other.species == m.species) return other.element;
  return element;
}

/// The description as PHREEQC reads it, amounts per kilogram of water; next to no oxygen or hydrogen.
std::string described(const Database& database, const SolutionOptions& options) {
  std::vector<SolutionTotal> totals;
  for (const std::string& text : options.totals) totals.push_back(parse_total(text));
  const std::vector<double> amounts = amounts_per_water(database, options, totals);
  const bool number = options.ph.find_first_not_of("0123456789.+-eE") == std::string::npos;
  std::string text = fmt::format("SOLUTION 1\n units mol/kgw\n temp {:.17g}\n pH {}\n", options.temperature,
                                 number ? options.ph : "7 " + options.ph);
  if (number) text += fmt::format(" pe {:.17g}\n", 10.0 - std::strtod(options.ph.c_str(), nullptr));
  for (std::size_t t = 0; t < totals.size(); ++t) {
    if (amounts[t] == 0.0 && totals[t].phase.empty()) continue;
    text += fmt::format(" {} {:.17g}", with_valence(database, totals[t].element), amounts[t]);
    if (totals[t].by_charge) text += " charge";
    if (!totals[t].phase.empty()) text += fmt::format(" {} {:.17g}", totals[t].phase, totals[t].index);
    text += "\n";
  }
  return text;
}

/// Saturation index that PHREEQC is to hold: of gases log10 of the pressure.
double index_of(const ChemicalSystem& system, const SurfaceReaction& r) {
  const SystemPhase& phase = system.phases[r.mineral.phase];
  double index = r.ln_omega / ln10;
  for (int i = 0; i < 20 && phase.is_gas; ++i)
    index += (r.ln_omega - saturation(system, phase.name, index).value) / ln10;
  return index;
}

/// The law of a mineral in Basic.
std::string rate_of(const ChemicalSystem& system, const SurfaceReaction& r, std::size_t number) {
  std::string k = "0";
  for (const RatePath& path : r.mineral.paths) {
    k += fmt::format(" + {:.17g}", std::exp(path.ln_k));
    for (const auto& [i, n] : path.activity) k += fmt::format(" * ACT(\"{}\")^({:.17g})", system.species[i].name, n);
    for (const auto& [p, n] : path.phases) k += fmt::format(" * SR(\"{}\")^({:.17g})", system.phases[p].name, n);
  }
  return fmt::format(
      "mineral_{}\n-start\n 10 r = PARM(1) * ({}) * (1 - SR(\"{}\"))\n 20 IF (M <= 0 AND r > 0) THEN r = 0\n"
      " 30 SAVE r * TIME\n-end\n",
      number, k, system.phases[r.mineral.phase].name);
}

/// What is in a cell beside its water.
std::string contents(const ReactiveMedium& medium, std::size_t cell, std::span<const double> area,
                     std::span<const double> amount) {
  const std::size_t n = medium.minerals.size();
  std::string kinetics, phases;
  for (std::size_t m = 0; m < n; ++m) {
    const SurfaceReaction& r = medium.minerals[m];
    const std::string& phase = medium.system.phases[r.mineral.phase].name;
    const double there = std::min(endless, amount[cell * n + m]);
    if (r.at_once())
      phases += fmt::format(" {} {:.17g} {:.17g} {}\n", phase, index_of(medium.system, r), there,
                            !r.precipitates ? "dissolve_only" : (!r.dissolves ? "precipitate_only" : ""));
    else
      kinetics +=
          fmt::format(" mineral_{}\n  -formula {} 1\n  -m {:.17g}\n  -m0 {:.17g}\n  -parms {:.17g}\n  -tol 1e-10\n", m,
                      phase, there, there, area[cell * n + m]);
  }
  if (!kinetics.empty())
    kinetics = fmt::format("KINETICS {}\n{} -cvode true\n -bad_step_max 5000\n", cell + 1, kinetics);
  if (!phases.empty()) phases = fmt::format("EQUILIBRIUM_PHASES {}\n{}", cell + 1, phases);
  return kinetics + phases;
}

}  // namespace

bool has_phreeqc() { return true; }

Solution solve_with_phreeqc(const PhreeqcFiles& files, const Database& database, const SolutionOptions& options) {
  Solution solution = solve_solution(database, options);
  IPhreeqc engine;
  int errors = engine.LoadDatabase(files.database.c_str());
  for (const std::string& file : files.additions) errors += engine.RunFile(file.c_str());
  if (errors == 0)
    errors = engine.RunString((knobs + punch(solution.system, {}) + described(database, options) + "END\n").c_str());
  require(errors == 0, "solution {}: PHREEQC: {}", options.name, engine.GetErrorString());
  engine.SetCurrentSelectedOutputUserNumber(1);
  solution.state = state_of(solution.system, [&](std::size_t k) {
    VAR value;
    VarInit(&value);
    engine.GetSelectedOutputValue(1, static_cast<int>(k), &value);
    require(value.type == TT_DOUBLE, "solution {}: PHREEQC returns no number {}", options.name, k);
    return value.dVal;
  });
  return solution;
}

struct PhreeqcCells::Engine {
  Engine(const ReactiveMedium& m, std::size_t n, int threads)
      : medium(m), n_cells(n), rm(static_cast<int>(n), threads), bound_water(n, water_of(m.system, m.start)) {}

  void check(IRM_RESULT result) {
    if (result >= 0) return;
    std::string text = rm.GetErrorString();
    for (int t = 0; t < rm.GetThreadCount(); ++t) text += rm.GetIPhreeqcPointer(t)->GetErrorString();
    throw Error(fmt::format("PHREEQC: {}\n  Shorter steps may help, or the engine \"karst\"", text));
  }

  /// The same in every cell.
  void set_up() {
    const std::vector<double> one(n_cells, 1.0);
    check(rm.SetRebalanceFraction(0.0));  // threads keep their cells, so that nothing depends on their speed
    rm.SetErrorOn(true);
    rm.SetScreenOn(false);
    check(rm.SetComponentH2O(false));
    rm.UseSolutionDensityVolume(false);
    check(rm.SetUnitsSolution(2));  // moles per litre, and a litre in each cell
    check(rm.SetUnitsKinetics(0));
    check(rm.SetUnitsPPassemblage(0));
    check(rm.SetRepresentativeVolume(one));
    check(rm.SetPorosity(one));
    check(rm.SetSaturationUser(one));
    check(rm.SetTemperature(std::vector<double>(n_cells, medium.system.kelvin - kelvin_0)));
    rm.SetSelectedOutputOn(true);
  }

  /// Where the totals of each primary, hydrogen, oxygen and charge stand among the components.
  void find_components() {
    check(rm.FindComponents() > 0 ? IRM_OK : IRM_FAIL);
    const auto place = [&](const std::string& name) {
      const auto& all = rm.GetComponents();
      const auto at = std::ranges::find(all, name);
      require(at != all.end(), "PHREEQC has no component {}", name);
      return static_cast<std::size_t>(at - all.begin());
    };
    hydrogen = place("H");
    oxygen = place("O");
    charge = place("Charge");
    for (int p = 0; p < medium.system.n_primaries; ++p) {
      const SystemSpecies& s = medium.system.species[p];
      component.push_back(p == 0 ? hydrogen : place(without_valence(medium.system.elements[p])));
      formula.push_back(parse_formula(s.name));
    }
  }

  const ReactiveMedium& medium;
  std::size_t n_cells;
  PhreeqcRM rm;
  std::size_t hydrogen = 0, oxygen = 0, charge = 0;
  std::vector<std::size_t> component;    ///< [primary]
  std::vector<ChemicalFormula> formula;  ///< [primary] of its species
  std::vector<double> bound_water;       ///< [cell] water_of() what was found last
  std::vector<double> concentrations, found;
  double time = 0.0;
};

PhreeqcCells::PhreeqcCells(const PhreeqcFiles& files, const ReactiveMedium& medium, std::span<const double> area,
                           std::span<const double> amount, int n_threads) {
  const ChemicalSystem& system = medium.system;
  const std::size_t n = medium.minerals.size(), n_cells = amount.size() / n;
  engine_ = std::make_unique<Engine>(medium, n_cells, n_threads);
  Engine& e = *engine_;
  e.set_up();
  e.check(e.rm.LoadDatabase(files.database));
  for (const std::string& file : files.additions) e.check(e.rm.RunFile(true, true, true, file));
  std::string solution = "SOLUTION 1\n units mol/kgw\n", rates = "RATES\n", all;
  for (int p = 1; p < system.n_primaries; ++p) {
    const std::string element = without_valence(system.elements[p]);
    for (int q = 1; q < p; ++q)
      require(without_valence(system.elements[q]) != element,
              "{} and {}: PHREEQC combines {} in one total, with redox reactions; use engine = \"karst\"",
              system.elements[q], system.elements[p], element);
    solution += fmt::format(" {} 1e-9\n", element);
  }
  std::vector<std::string> changes;
  for (std::size_t m = 0; m < n; ++m) {
    const SurfaceReaction& r = medium.minerals[m];
    changes.push_back(r.at_once() ? fmt::format("EQUI_DELTA(\"{}\")", system.phases[r.mineral.phase].name)
                                  : fmt::format("KIN_DELTA(\"mineral_{}\")", m));
    if (!r.at_once()) rates += rate_of(system, r, m);
  }
  for (std::size_t c = 0; c < n_cells; ++c) all += contents(medium, c, area, amount);
  e.check(e.rm.RunString(true, true, true, knobs + rates + punch(system, changes) + "END\n"));
  e.check(e.rm.RunString(false, true, false, solution + "END\n" + all + "END\n"));  // apart, so that nothing reacts
  e.find_components();
  std::vector<int> initial(7 * n_cells, -1);
  const bool kinetics = !std::ranges::all_of(medium.minerals, &SurfaceReaction::at_once);
  const bool phases = std::ranges::any_of(medium.minerals, &SurfaceReaction::at_once);
  for (std::size_t c = 0; c < n_cells; ++c) {
    initial[c] = 1;
    if (phases) initial[n_cells + c] = static_cast<int>(c) + 1;
    if (kinetics) initial[6 * n_cells + c] = static_cast<int>(c) + 1;
  }
  e.check(e.rm.InitialPhreeqc2Module(initial));
}

void PhreeqcCells::react(double time, std::span<const double> totals, std::span<double> dissolved) {
  Engine& e = *engine_;
  const ChemicalSystem& system = e.medium.system;
  const std::size_t n = e.medium.n_totals(), n_minerals = e.medium.minerals.size();
  e.concentrations.assign(e.rm.GetComponents().size() * e.n_cells, 0.0);
  const auto at = [&](std::size_t component, std::size_t cell) -> double& {
    return e.concentrations[component * e.n_cells + cell];
  };
  for (std::size_t c = 0; c < e.n_cells; ++c) {
    const double water = water_of_a_kilogram + e.bound_water[c];
    at(e.hydrogen, c) = 2.0 * water;
    at(e.oxygen, c) = water;
    for (std::size_t p = 0; p < n; ++p) {
      const double moles = totals[c * n + p] / system.atoms[p];
      if (p > 0) at(e.component[p], c) += totals[c * n + p];
      for (const auto& [element, count] : e.formula[p].elements) {
        if (element == "H") at(e.hydrogen, c) += count * moles;
        if (element == "O") at(e.oxygen, c) += count * moles;
      }
      at(e.charge, c) += e.formula[p].charge * moles;
    }
  }
  e.check(e.rm.SetConcentrations(e.concentrations));
  e.check(e.rm.SetTime(e.time));
  e.check(e.rm.SetTimeStep(time));
  e.check(e.rm.RunCells());
  e.time += time;
  e.check(e.rm.SetCurrentSelectedOutputUserNumber(1));
  e.check(e.rm.GetSelectedOutput(e.found));
  const std::size_t first = 2 + n + system.n_dissolved;
  for (std::size_t c = 0; c < e.n_cells; ++c) {
    e.bound_water[c] = water_of(system, solution(c));
    for (std::size_t m = 0; m < n_minerals; ++m) dissolved[c * n_minerals + m] = -e.found[(first + m) * e.n_cells + c];
  }
}

Speciation PhreeqcCells::solution(std::size_t cell) const {
  return state_of(engine_->medium.system, [&](std::size_t k) { return engine_->found[k * engine_->n_cells + cell]; });
}

int PhreeqcCells::n_threads() const { return engine_->rm.GetThreadCount(); }

std::vector<BatchState> react_with_phreeqc(const PhreeqcFiles& files, const ReactiveMedium& medium,
                                           const BatchMinerals& minerals, const std::vector<double>& totals,
                                           const std::vector<double>& times) {
  PhreeqcCells cell(files, medium, minerals.area, minerals.amount, 1);
  const std::size_t n = medium.minerals.size();
  std::vector<double> now = totals, change(n), dissolved(n, 0.0);
  std::vector<BatchState> states;
  double time = 0.0;
  for (const double end : times.empty() ? std::vector<double>{0.0} : times) {
    cell.react(end - time, now, change);
    for (std::size_t m = 0; m < n; ++m) {
      dissolved[m] += change[m];
      for (std::size_t p = 0; p < now.size(); ++p) now[p] += medium.minerals[m].brought[p] * change[m];
    }
    time = end;
    states.push_back({time, dissolved, cell.solution(0)});
  }
  return states;
}

#else

struct PhreeqcCells::Engine {};

namespace {

[[noreturn]] void refuse() {
  throw Error(
      "engine \"phreeqcrm\": Karst was built without it; build PhreeqcRM with tools/build_phreeqcrm.sh and configure "
      "with -DKARST_PHREEQCRM=ON");
}

}  // namespace

bool has_phreeqc() { return false; }
Solution solve_with_phreeqc(const PhreeqcFiles&, const Database&, const SolutionOptions&) { refuse(); }
PhreeqcCells::PhreeqcCells(const PhreeqcFiles&, const ReactiveMedium&, std::span<const double>, std::span<const double>,
                           int) {
  refuse();
}
void PhreeqcCells::react(double, std::span<const double>, std::span<double>) { refuse(); }
Speciation PhreeqcCells::solution(std::size_t) const { refuse(); }
int PhreeqcCells::n_threads() const { refuse(); }
std::vector<BatchState> react_with_phreeqc(const PhreeqcFiles&, const ReactiveMedium&, const BatchMinerals&,
                                           const std::vector<double>&, const std::vector<double>&) {
  refuse();
}

#endif

PhreeqcCells::~PhreeqcCells() = default;
PhreeqcCells::PhreeqcCells(PhreeqcCells&&) noexcept = default;
PhreeqcCells& PhreeqcCells::operator=(PhreeqcCells&&) noexcept = default;

}  // namespace karst
