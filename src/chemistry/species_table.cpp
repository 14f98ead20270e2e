// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/species_table.hpp"

#include <algorithm>
#include <cmath>

#include "chemistry/chemical_system.hpp"
#include "chemistry/constants.hpp"

namespace karst {

namespace {

/// Vectors are of up to eight numbers.
int whole_vectors(int n) { return (n + 7) / 8 * 8; }

/// @param amount  its place
void fill_form(const TableTerm& term, int amount, SpeciesTable& t) {
  const std::size_t i = amount, length = t.length, width = t.width, n = t.n_basis;
  for (const auto& [b, c] : term.basis) {
    t.form[b * length + i] += c;
    t.rows[i * width + b] += c;
  }
  t.form[n * length + i] = t.rows[i * width + n + 1] = term.water;
  t.constant[i] = term.constant;
}

double atoms_of(const ChemicalSystem& system, int b) { return b < system.n_primaries ? system.atoms[b] : 1.0; }

}  // namespace

void WeightedSums::clear() {
  begin.assign(1, 0);
  amount.clear();
  weight.clear();
}

void WeightedSums::add(std::span<const double> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    amount.push_back(static_cast<int>(i));
    weight.push_back(weights[i]);
  }
  begin.push_back(static_cast<int>(amount.size()));
}

SpeciesTable make_table(const ChemicalSystem& system, std::span<const TableTerm> terms) {
  SpeciesTable t;
  t.n_basis = system.n_basis();
  t.first_layer = static_cast<int>(system.species.size());
  t.first_term = t.first_layer + 2 * static_cast<int>(system.potentials.size());
  t.n = t.first_term + static_cast<int>(terms.size());
  t.length = whole_vectors(t.n);
  t.width = whole_vectors(t.n_basis + 2);
  const std::size_t length = t.length, n_basis = t.n_basis, n_dissolved = system.n_dissolved;
  t.form.assign((n_basis + 1) * length, 0.0);
  t.rows.assign(t.n * t.width, 0.0);
  t.constant.assign(length, 0.0);
  for (auto* v : {&t.az2, &t.ba, &t.b}) v->assign(length, 0.0);
  t.part.assign(n_basis * length, 0.0);
  std::vector<double> half_z2(length, 0.0), charge(length, 0.0), alkalinity(length, 0.0), one(length, 0.0);
  for (std::size_t i = 0; i < system.species.size(); ++i) {
    const SystemSpecies& s = system.species[i];
    fill_form({s.formed.basis, s.formed.water, -s.formed.ln_k - (s.site >= 0 ? std::log(s.covers) : 0.0)},
              static_cast<int>(i), t);
    t.az2[i] = s.activity.az2;
    t.ba[i] = s.activity.ba;
    t.b[i] = s.activity.b;
    // A potential is no amount: its row of the sums are the charges on its surface.
    const int potential = s.site >= 0 ? system.sites[s.site].potential : -1;
    for (const auto& [b, c] : s.formed.basis)
      if (b != potential) t.part[b * length + i] = c * atoms_of(system, b);
    if (potential >= 0) t.part[potential * length + i] = s.charge;
    if (i >= n_dissolved) continue;
    half_z2[i] = 0.5 * s.charge * s.charge;
    charge[i] = s.charge;
    alkalinity[i] = s.alkalinity;
    one[i] = 1.0;
  }
  const double layer = std::log(0.5 * diffuse_layer_charge(system.kelvin) / phreeqc_faraday);
  for (int amount = t.first_layer; amount < t.first_term; ++amount) {
    const int side = (amount - t.first_layer) % 2, b = system.n_basis() - (t.first_term - amount + 1) / 2;
    fill_form({{{b, side == 0 ? -0.5 : 0.5}}, 0.0, layer}, amount, t);
    t.part[b * length + amount] = side == 0 ? 1.0 : -1.0;
  }
  for (std::size_t k = 0; k < terms.size(); ++k) fill_form(terms[k], t.first_term + static_cast<int>(k), t);
  for (std::size_t b = 0; b < n_basis; ++b) t.totals.add(std::span(t.part).subspan(b * length, length));
  for (const auto* weights : {&half_z2, &charge, &alkalinity, &one}) t.ions.add(*weights);
  return t;
}

}  // namespace karst
