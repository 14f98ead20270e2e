// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "chemistry/charge_error.hpp"

namespace karst {

namespace {

using std::numbers::ln10;
constexpr double least_shown = 1e-20;  // [mol/kgw]
constexpr double charge_of_ph = 1e-8;  // [eq/kgw] that a pH of 7 has by its digits: neutral water has 6.996
constexpr double much_charge = 0.1;    // [% of the ions]: solves leave 1e-9, seawater as usually written 0.07

/// log10 of activity and of its coefficient of a species.
struct SpeciesLine {
  double molality, log_activity, log_gamma;
};

SpeciesLine line_of(const Solution& s, std::size_t i) {
  const double ln_a = ln_activity(s.system, s.state, static_cast<int>(i));
  const double m = s.state.molality[i];
  return {m, ln_a / ln10, (ln_a - std::log(m)) / ln10};
}

std::vector<std::size_t> by_amount(const Solution& s) {
  std::vector<std::size_t> order(s.system.species.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return s.state.molality[i]; });
  return order;
}

std::vector<std::pair<double, std::size_t>> by_index(const Solution& s) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t p = 0; p < s.system.phases.size(); ++p)
    order.emplace_back(saturation_index(s.system, s.state, static_cast<int>(p)), p);
  std::ranges::stable_sort(order, std::greater{}, [](const auto& o) { return o.first; });
  return order;
}

std::string species_table(const Solution& s) {
  std::string text = "Species                 mol/kgw     activity  log10 γ\n";
  for (const std::size_t i : by_amount(s)) {
    const SpeciesLine line = line_of(s, i);
    if (line.molality >= least_shown)
      text += fmt::format("  {:<18} {:>11.4e}  {:>11.4e}  {:>7.3f}\n", s.system.species[i].name, line.molality,
                          std::pow(10.0, line.log_activity), line.log_gamma);
  }
  return text;
}

std::string phase_table(const Solution& s) {
  std::string text = "Saturation index, log10 (ion activity product / equilibrium constant)\n";
  for (const auto& [index, p] : by_index(s)) {
    const SystemPhase& phase = s.system.phases[p];
    text += fmt::format("  {:<18} {:>8.2f}{}\n", phase.name, index,
                        phase.is_gas ? fmt::format("   fugacity {:.3e} atm", std::pow(10.0, index)) : "");
  }
  return text;
}

}  // namespace

double charge_error(const Solution& s) {
  const double ions = ions_of(s.system, s.state);
  return ions > 0.0 ? 100.0 * charge_of(s.system, s.state) / ions : 0.0;
}

std::vector<std::string> solution_warnings(const Solution& s) {
  std::vector<std::string> warnings;
  const bool of_ph = std::abs(charge_of(s.system, s.state)) < charge_of_ph;
  if (const double percent = charge_error(s); std::abs(percent) > much_charge && !of_ph)
    warnings.push_back(
        fmt::format("solution {}: charge imbalance of {:+.3g} % of the ions; is an ion missing? \"charge\" after an "
                    "amount, or pH = \"charge\", balances it",
                    s.options.name, percent));
  if (s.state.ionic_strength > 1.0)
    warnings.push_back(fmt::format(
        "solution {}: ionic strength {:.3g} mol/kgw; activity coefficients of this model are valid up to about 1",
        s.options.name, s.state.ionic_strength));
  if (s.options.density != SolutionOptions().density && !has_totals_per_litre(s.options))
    warnings.push_back(fmt::format(
        "solution {}: density has no effect, as no total is per litre (units \"mol/L\", \"mg/L\")", s.options.name));
  for (const std::string& taken : s.valences)
    warnings.push_back(fmt::format("solution {}: {}: there are no redox reactions; name the valence that is meant",
                                   s.options.name, taken));
  return warnings;
}

std::string solution_text(const Solution& s, const std::string& database_name) {
  std::string text =
      fmt::format("Solution {}: {} °C, database {}\n", s.options.name, s.options.temperature, database_name);
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", name, value);
  };
  add("pH", fmt::format("{:.3f}", ph_of(s.state)));
  add("ionic strength", fmt::format("{:.4e} mol/kgw", s.state.ionic_strength));
  add("activity of water", fmt::format("{:.5f}", std::exp(s.state.ln_water)));
  add("alkalinity", fmt::format("{:.4e} eq/kgw", alkalinity_of(s.system, s.state)));
  if (const double carbon = inorganic_carbon_of(s.system, s.state); !std::isnan(carbon))
    add("inorganic carbon", fmt::format("{:.4e} mol/kgw", carbon));
  add("charge", fmt::format("{:+.2e} eq/kgw, {:+.3g} % of the ions", charge_of(s.system, s.state), charge_error(s)));
  text += "\nTotals                  mol/kgw\n";
  for (int p = 1; p < s.system.n_primaries; ++p)
    text += fmt::format("  {:<18} {:>11.4e}\n", s.system.elements[p], total_of(s.system, s.state, p));
  return text + '\n' + species_table(s) + '\n' + phase_table(s);
}

std::string solution_csv(const Solution& s, bool header) {
  std::string text = header ? "solution,kind,name,value,unit,activity,log10_gamma\n" : "";
  const auto add = [&](const char* kind, const std::string& name, double value, const char* unit) {
    text += fmt::format("{},{},{},{:.10g},{},,\n", s.options.name, kind, name, value, unit);
  };
  add("property", "pH", ph_of(s.state), "");
  add("property", "temperature", s.options.temperature, "C");
  add("property", "ionic_strength", s.state.ionic_strength, "mol/kgw");
  add("property", "water_activity", std::exp(s.state.ln_water), "");
  add("property", "alkalinity", alkalinity_of(s.system, s.state), "eq/kgw");
  add("property", "charge", charge_of(s.system, s.state), "eq/kgw");
  add("property", "charge_error", charge_error(s), "%");
  if (const double carbon = inorganic_carbon_of(s.system, s.state); !std::isnan(carbon))
    add("property", "inorganic_carbon", carbon, "mol/kgw");
  for (int p = 1; p < s.system.n_primaries; ++p)
    add("total", s.system.elements[p], total_of(s.system, s.state, p), "mol/kgw");
  for (std::size_t i = 0; i < s.system.species.size(); ++i) {
    const SpeciesLine line = line_of(s, i);
    text += fmt::format("{},species,{},{:.10g},mol/kgw,{:.10g},{:.8g}\n", s.options.name, s.system.species[i].name,
                        line.molality, std::pow(10.0, line.log_activity), line.log_gamma);
  }
  for (std::size_t p = 0; p < s.system.phases.size(); ++p)
    add("phase", s.system.phases[p].name, saturation_index(s.system, s.state, static_cast<int>(p)), "log10");
  return text;
}

}  // namespace karst
