// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/speciation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/math/no_number.hpp"
#include "chemistry/equations.hpp"

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;

/// The equations of a system without reactions, its buffers ready, and the unknowns of a state.
Equations begin(const ChemicalSystem& system, std::span<const SolutionCondition> conditions, const Speciation& state,
                SpeciationWorkspace& work) {
  const std::size_t n_basis = system.n_basis();
  prepare(system.table, work);
  work.conditions.assign(conditions.begin(), conditions.begin() + n_basis);
  for (std::size_t b = 1; b < n_basis; ++b) {
    SolutionCondition& c = work.conditions[b];
    if (c.kind == Kind::total) c.value = std::max(c.value, least_amount);
  }
  set_constants(system, system.table, conditions, work);
  std::ranges::copy(state.basis, work.unknowns.begin());
  work.unknowns[n_basis] = state.ionic_strength;
  work.unknowns[n_basis + 1] = state.ln_water;
  return {system, system.table, system.table.totals, work.conditions, work};
}

/// Σ of the dissolved species times a property.
template <class Property>
double dissolved_sum(const ChemicalSystem& system, const Speciation& state, Property&& property) {
  double sum = 0.0;
  for (int i = 0; i < system.n_dissolved; ++i) sum += property(system.species[i]) * state.molality[i];
  return sum;
}

}  // namespace

Speciation cold_start(const ChemicalSystem& system, std::span<const SolutionCondition> conditions) {
  Speciation state;
  double ions = 0.0;
  for (int p = 0; p < system.n_primaries; ++p) {
    const SolutionCondition& c = conditions[p];
    double m = p == 0 ? 1e-7 : 1e-6;
    if (c.kind == Kind::total && p > 0) m = std::max(c.value, least_amount);
    if (c.kind == Kind::activity) m = std::exp(c.value);
    if (c.kind == Kind::alkalinity) m = std::max(c.value, 1e-12);
    state.basis.push_back(std::log(m));
    const double z = system.species[p].charge;
    ions += 0.5 * z * z * std::min(m, 2.0);
  }
  state.basis.resize(system.n_basis(), 0.0);
  state.ionic_strength = std::clamp(ions, 1e-7, 2.0);
  return state;
}

bool speciate(const ChemicalSystem& system, std::span<const SolutionCondition> conditions, Speciation& state,
              SpeciationWorkspace& work) {
  const Equations equations = begin(system, conditions, state, work);
  state.iterations = 0;
  state.converged = solve(equations, work.unknowns, state.iterations);
  take_state(equations, work.unknowns, state);
  return state.converged;
}

bool activity_slopes(const ChemicalSystem& system, std::span<const SolutionCondition> conditions,
                     std::span<const double> direction, Speciation& state, SpeciationWorkspace& work,
                     std::span<double> slope) {
  const Equations equations = begin(system, conditions, state, work);
  const std::size_t n_basis = system.n_basis();
  evaluate(equations, work.unknowns);
  residuals(equations, work.unknowns, IonicMedium::unknown);
  jacobian(equations, work.unknowns, IonicMedium::unknown);
  // Row p is ln Σ₊ - ln (Σ₋ + total), or with the total in Σ₊ where it is negative: its slope is -1 / sum in both.
  std::ranges::fill(work.residual, 0.0);
  for (int p = 0; p < system.n_primaries; ++p)
    if (conditions[p].kind == Kind::total && (p == 0 || conditions[p].value > least_amount))
      work.residual[p] = direction[p] / (conditions[p].value > 0.0 ? work.negative[p] : work.positive[p]);
  if (!solve_step(equations)) return false;
  for (std::size_t b = 0; b < n_basis; ++b) slope[b] = work.step[b] + work.basis_slope[b] * work.step[n_basis];
  slope[n_basis] = work.step[n_basis + 1];
  return true;
}

double total_of(const ChemicalSystem& system, const Speciation& state, int primary) {
  const bool site = primary >= system.n_primaries;
  const double atoms = site ? 1.0 : system.atoms[primary];
  double sum = 0.0;
  for (int i = site ? system.n_dissolved : 0; i < (site ? std::ssize(system.species) : system.n_dissolved); ++i)
    for (const auto& [b, c] : system.species[i].formed.basis)
      if (b == primary) sum += c * state.molality[i];
  return atoms * sum;
}

double sorbed_of(const ChemicalSystem& system, const Speciation& state, int primary) {
  const double atoms = primary < system.n_primaries ? system.atoms[primary] : 1.0;
  double sum = 0.0;
  for (std::size_t i = system.n_dissolved; i < system.species.size(); ++i)
    for (const auto& [b, c] : system.species[i].formed.basis)
      if (b == primary) sum += c * state.molality[i];
  return atoms * sum;
}

double charge_of(const ChemicalSystem& system, const Speciation& state) {
  return dissolved_sum(system, state, [](const SystemSpecies& s) { return s.charge; });
}

double ions_of(const ChemicalSystem& system, const Speciation& state) {
  return dissolved_sum(system, state, [](const SystemSpecies& s) { return std::abs(s.charge); });
}

double alkalinity_of(const ChemicalSystem& system, const Speciation& state) {
  return dissolved_sum(system, state, [](const SystemSpecies& s) { return s.alkalinity; });
}

double inorganic_carbon_of(const ChemicalSystem& system, const Speciation& state) {
  const int valence = system.primary_of("C(4)"), carbon = valence >= 0 ? valence : system.primary_of("C");
  const double total = carbon >= 0 ? total_of(system, state, carbon) : 0.0;
  return total > 2.0 * least_amount ? total : no_number;  // the value used for a total of 0
}

double ln_activity(const ChemicalSystem& system, const Speciation& state, int species) {
  const MassAction& formed = system.species[species].formed;
  double ln_a = formed.water * state.ln_water - formed.ln_k;
  for (const auto& [b, c] : formed.basis) ln_a += c * state.ln_activity[b];
  return ln_a;
}

double saturation_index(const ChemicalSystem& system, const Speciation& state, int phase) {
  const MassAction& action = system.phases[phase].dissolved;
  double ln_omega = action.water * state.ln_water - action.ln_k;
  for (const auto& [b, c] : action.basis) ln_omega += c * state.ln_activity[b];
  return ln_omega / std::numbers::ln10;
}

double ph_of(const Speciation& state) { return -state.ln_activity[0] / std::numbers::ln10; }

}  // namespace karst
