// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/sorption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/core/error.hpp"
#include "chemistry/constants.hpp"

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;

/// Species on the sites of a sorbent, those of which there is most first.
std::vector<std::size_t> species_on(const ChemicalSystem& system, const Speciation& state, const SorbentOptions& on) {
  std::vector<std::string> sites;
  for (const std::string& text : on.sites) sites.push_back(parse_site(text).site);
  std::vector<std::size_t> all;
  for (std::size_t i = system.n_dissolved; i < system.species.size(); ++i)
    if (std::ranges::count(sites, system.sites[system.species[i].site].name) > 0) all.push_back(i);
  std::ranges::stable_sort(all, std::greater{}, [&](std::size_t i) { return state.molality[i]; });
  return all;
}

/// ψ [V] and σ [C/m²] of a charged surface.
struct SurfaceState {
  double potential = 0.0, charge = 0.0;
};
SurfaceState surface_of(const ChemicalSystem& system, const Speciation& state, const SorbentOptions& surface) {
  const std::size_t k = std::ranges::find(system.potentials, surface.name) - system.potentials.begin();
  double charge = 0.0;
  for (const std::size_t i : species_on(system, state, surface)) charge += system.species[i].charge * state.molality[i];
  const double y = state.basis[system.n_primaries + system.sites.size() + k];
  return {y * phreeqc_gas_constant * system.kelvin / phreeqc_faraday, charge * phreeqc_faraday / surface.area};
}

}  // namespace

SiteAmount parse_site(std::string_view text) {
  std::istringstream words{std::string(text)};
  SiteAmount site;
  std::string number, more;
  words >> site.site >> number;
  char* end = nullptr;
  site.amount = std::strtod(number.c_str(), &end);
  require(!number.empty() && *end == '\0' && std::isfinite(site.amount) && !(words >> more),
          "\"{}\" is not a site; expected: a site of the database and its amount [mol/kgw], \"X 0.01\"", text);
  require(site.amount > 0.0, "\"{}\": the amount of a site must be positive", text);
  return site;
}

std::vector<Sorbent> sorbents_of(const Database& database, const std::vector<SorbentOptions>& options) {
  std::vector<Sorbent> all;
  for (const SorbentOptions& o : options) {
    Sorbent sorbent{o.name, {}, o.surface && o.charged};
    for (const std::string& text : o.sites) {
      const SiteAmount site = parse_site(text);
      const SorptionMaster* m = database.sorption_master(site.site);
      require(m == nullptr || (m->place == SpeciesPlace::surface) == o.surface, "{}: {} is a site of {}", o.name,
              site.site, o.surface ? "an exchanger, not of a surface" : "a surface, not of an exchanger");
      sorbent.sites.push_back(site.site);
    }
    all.push_back(std::move(sorbent));
  }
  return all;
}

std::vector<SolutionCondition> sites_of(const std::vector<SorbentOptions>& options) {
  std::vector<SolutionCondition> conditions;
  for (const SorbentOptions& o : options)
    for (const std::string& text : o.sites) conditions.push_back({Kind::total, parse_site(text).amount});
  for (const SorbentOptions& o : options)
    if (o.surface && o.charged) conditions.push_back({Kind::potential, o.area});
  return conditions;
}

Speciation sorbed_state(const ChemicalSystem& system, const Speciation& solution,
                        const std::vector<SolutionCondition>& sites) {
  std::vector<SolutionCondition> conditions;
  for (int p = 0; p < system.n_primaries; ++p) conditions.push_back({Kind::activity, solution.ln_activity[p]});
  conditions.insert(conditions.end(), sites.begin(), sites.end());
  Speciation state = solution;
  state.basis.resize(conditions.size(), 0.0);
  SpeciationWorkspace work;
  require(speciate(system, conditions, state, work),
          "no equilibrium of the sorbents with the solution was found; check their amounts");
  return state;
}

std::string sorption_text(const ChemicalSystem& system, const Speciation& state,
                          const std::vector<SorbentOptions>& options) {
  std::string text;
  for (const SorbentOptions& o : options) {
    text += fmt::format("{} {}\n", o.surface ? "Surface" : "Exchanger", o.name);
    if (o.surface && o.charged) {
      const SurfaceState s = surface_of(system, state, o);
      text += fmt::format("  {:<18} {:.4f} V\n  {:<18} {:.4e} C/m2\n", "potential", s.potential, "charge", s.charge);
    }
    text += "  species                mol/kgw    of sites\n";
    for (const std::size_t i : species_on(system, state, o)) {
      const SystemSpecies& s = system.species[i];
      const double sites = total_of(system, state, system.n_primaries + s.site);
      text += fmt::format("  {:<18} {:>11.4e}  {:>9.4f}\n", s.name, state.molality[i],
                          s.covers * state.molality[i] / sites);
    }
  }
  return text;
}

std::string sorption_csv(const std::string& solution, const ChemicalSystem& system, const Speciation& state,
                         const std::vector<SorbentOptions>& options, const std::string& when) {
  std::string text;
  const auto add = [&](const char* kind, const std::string& name, double value, const char* unit) {
    text += fmt::format("{},{}{},{},{:.10g},{},,\n", solution, when, kind, name, value, unit);
  };
  for (int p = 0; p < system.n_primaries; ++p)
    add("sorbed", system.elements[p], sorbed_of(system, state, p), "mol/kgw");
  for (const SorbentOptions& o : options) {
    for (const std::size_t i : species_on(system, state, o))
      add("sorbed_species", system.species[i].name, state.molality[i], "mol/kgw");
    if (!o.surface || !o.charged) continue;
    const SurfaceState s = surface_of(system, state, o);
    add("potential", o.name, s.potential, "V");
    add("surface_charge", o.name, s.charge, "C/m2");
  }
  return text;
}

}  // namespace karst
