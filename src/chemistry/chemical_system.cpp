// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/chemical_system.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace karst {

namespace {

constexpr double ln10 = std::numbers::ln10;

/// A species in the basis: ln a = Σ coefficient ln a(primary) + water ln a(H2O) + ln_k.
struct Expression {
  std::map<int, double> primaries;
  double water = 0.0, ln_k = 0.0;

  void add(const Expression& other, double times) {
    for (const auto& [p, c] : other.primaries) primaries[p] += times * c;
    water += times * other.water;
    ln_k += times * other.ln_k;
  }
};

/// Writes species in the basis, each once.
class Basis {
 public:
  Basis(const Database& database, const std::vector<std::string>& primaries, double kelvin)
      : database_(database), kelvin_(kelvin) {
    for (std::size_t p = 0; p < primaries.size(); ++p) known_[primaries[p]] = Expression{{{static_cast<int>(p), 1.0}}};
    known_["H2O"] = Expression{.primaries = {}, .water = 1.0};
  }

  /// Nothing for a species that the basis does not make.
  const std::optional<Expression>& of(const std::string& name) {
    const auto at = known_.find(name);
    if (at != known_.end()) return at->second;
    known_[name] = std::nullopt;  // meets itself: not made
    std::optional<Expression> made;
    const DatabaseSpecies* species = database_.find_species(name);
    if (species != nullptr && !species->from.empty()) {
      made = sum(species->from);
      if (made) made->ln_k += species->constant.log_k(kelvin_) * ln10;
    }
    return known_[name] = std::move(made);
  }

  std::optional<Expression> sum(const std::vector<ReactionTerm>& terms) {
    Expression total;
    for (const ReactionTerm& t : terms) {
      const std::optional<Expression> part = of(t.species);
      if (!part) return std::nullopt;
      total.add(*part, t.coefficient);
    }
    return total;
  }

 private:
  const Database& database_;
  double kelvin_;
  std::map<std::string, std::optional<Expression>> known_;
};

MassAction mass_action(const Expression& e, double ln_k) {
  MassAction action{.primaries = {}, .water = e.water, .ln_k = ln_k};
  for (const auto& [p, c] : e.primaries)
    if (c != 0.0) action.primaries.emplace_back(p, c);
  return action;
}

ActivityCoefficient activity_of(const DatabaseSpecies& s, const DebyeHueckel& dh) {
  const double az2 = dh.a * s.formula.charge * s.formula.charge * ln10;
  switch (s.activity) {
    case ActivityModel::davies:
      return {az2, 1.0, 0.3 * az2};
    case ActivityModel::debye_hueckel:
      return {az2, dh.b * s.ion_size, s.linear * ln10};
    case ActivityModel::uncharged:
      return {0.0, 0.0, 0.1 * ln10};
    case ActivityModel::one:
      break;
  }
  return {};
}

/// "Fe(2), Fe(3)"
std::string valences(const Database& database, const std::string& element) {
  std::string all;
  for (const MasterSpecies& m : database.masters)
    if (m.element.starts_with(element + '(')) all += (all.empty() ? "" : ", ") + m.element;
  return all;
}

/// Master species of the elements, H+ first.
std::vector<const MasterSpecies*> masters_of(const Database& database, const std::vector<std::string>& elements) {
  std::vector<std::string> names;
  for (const MasterSpecies& m : database.masters) names.push_back(m.element);
  std::vector<const MasterSpecies*> masters{database.master("H")};
  require(masters.front() != nullptr, "database {}: has no master species of H", database.name);
  for (const std::string& element : elements) {
    const MasterSpecies* m = database.master(element);
    const std::string near = nearest(element, names);
    require(m != nullptr, "element {} is not in database {}{}", element, database.name,
            near.empty() ? "" : fmt::format("; did you mean {}?", near));
    require(m->species != "H2O" && m->species != "e-" && m->species != "H+",
            "element {}: the amounts of H and O are those of water and pH; give pH in place of it", element);
    const auto same = std::ranges::find(masters, m->species, &MasterSpecies::species);
    require(same == masters.end(), "{} and {} are the same: both are counted as {}", element,
            same == masters.end() ? "" : (*same)->element, m->species);
    for (const std::string& other : elements) {
      const MasterSpecies* valence = other.starts_with(element + '(') ? database.master(other) : nullptr;
      require(valence == nullptr || valence->species == m->species,
              "{} and {}: an amount of the element beside one of its valences; as no electrons go from one to the "
              "other, name each valence: {}",
              element, other, valences(database, element));
    }
    masters.push_back(m);
  }
  return masters;
}

void add_species(const Database& database, Basis& basis, const std::vector<const MasterSpecies*>& masters,
                 ChemicalSystem& system) {
  const DebyeHueckel dh = debye_hueckel(system.kelvin);
  std::set<std::string> primaries;
  const auto add = [&](const DatabaseSpecies& s, const Expression& e) {
    SystemSpecies made{s.name, s.formula.charge, 0.0, activity_of(s, dh), mass_action(e, -e.ln_k)};
    for (const auto& [p, c] : made.formed.primaries) made.alkalinity += c * masters[p]->alkalinity;
    system.species.push_back(std::move(made));
  };
  for (const MasterSpecies* m : masters) {
    primaries.insert(m->species);
    add(*database.find_species(m->species), *basis.of(m->species));
  }
  for (const DatabaseSpecies& s : database.species) {
    if (primaries.contains(s.name) || s.name == "H2O" || s.name == "e-") continue;
    if (const auto& e = basis.of(s.name)) add(s, *e);
  }
}

}  // namespace

int ChemicalSystem::primary_of(std::string_view element) const {
  const auto at = std::ranges::find(elements, element);
  return at == elements.end() ? -1 : static_cast<int>(at - elements.begin());
}

int ChemicalSystem::phase(std::string_view name) const {
  const auto at = std::ranges::find(phases, name, &SystemPhase::name);
  return at == phases.end() ? -1 : static_cast<int>(at - phases.begin());
}

int ChemicalSystem::species_of(std::string_view name) const {
  const auto at = std::ranges::find(species, name, &SystemSpecies::name);
  return at == species.end() ? -1 : static_cast<int>(at - species.begin());
}

ChemicalSystem make_system(const Database& database, const std::vector<std::string>& elements, double kelvin) {
  const std::vector<const MasterSpecies*> masters = masters_of(database, elements);
  ChemicalSystem system;
  system.kelvin = kelvin;
  system.n_primaries = static_cast<int>(masters.size());
  std::vector<std::string> names;
  for (const MasterSpecies* m : masters) {
    system.elements.push_back(m->element);
    names.push_back(m->species);
  }
  Basis basis(database, names, kelvin);
  add_species(database, basis, masters, system);
  for (const DatabasePhase& p : database.phases)
    if (const auto e = basis.sum(p.dissolved))
      system.phases.push_back({p.name, mass_action(*e, p.constant.log_k(kelvin) * ln10 - e->ln_k), p.is_gas(),
                               p.critical_temperature, p.critical_pressure, p.acentric, p.molar_volume});
  return system;
}

}  // namespace karst
