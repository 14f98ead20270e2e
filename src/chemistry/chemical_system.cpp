// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/chemical_system.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

using std::numbers::ln10;

/// A species in the basis: ln a = Σ coefficient ln a(basis) + water ln a(H2O) + ln_k.
struct Expression {
  std::map<int, double> basis;
  double water = 0.0, ln_k = 0.0;

  void add(const Expression& other, double times) {
    for (const auto& [b, c] : other.basis) basis[b] += times * c;
    water += times * other.water;
    ln_k += times * other.ln_k;
  }
};

/// Writes species in the basis, each once.
class Basis {
 public:
  /// @param names  primary species and master species of sites, as the basis has them
  Basis(const Database& database, const std::vector<std::string>& names, double kelvin)
      : database_(database), kelvin_(kelvin) {
    for (std::size_t b = 0; b < names.size(); ++b) known_[names[b]] = Expression{{{static_cast<int>(b), 1.0}}};
    known_["H2O"] = Expression{.basis = {}, .water = 1.0};
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
  MassAction action{.basis = {}, .water = e.water, .ln_k = ln_k};
  for (const auto& [b, c] : e.basis)
    if (c != 0.0) action.basis.emplace_back(b, c);
  return action;
}

ActivityCoefficient activity_of(const DatabaseSpecies& s, double charge, const DebyeHueckel& dh) {
  const double az2 = dh.a * charge * charge * ln10;
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
  std::vector<const MasterSpecies*> masters{database.master("H")};
  require(masters.front() != nullptr, "database {}: has no master species of H", database.name);
  for (const std::string& element : elements) {
    const MasterSpecies* m = &require_element(database, element);
    require(m->species != "H2O" && m->species != "e-" && m->species != "H+",
            "element {}: the amounts of H and O follow from water and pH; give pH instead", element);
    const auto same = std::ranges::find(masters, m->species, &MasterSpecies::species);
    require(same == masters.end() || (*same)->element != element, "{} is given twice; give its amount once{}", element,
            m->species == "CO3-2" ? " (Alkalinity is one, too: with pH it gives carbon)" : "");
    require(same == masters.end(), "{} and {} are the same: both are counted as {}", element,
            same == masters.end() ? "" : (*same)->element, m->species);
    for (const std::string& other : elements) {
      const MasterSpecies* valence = other.starts_with(element + '(') ? database.master(other) : nullptr;
      require(valence == nullptr || valence->species == m->species,
              "{} and {}: amounts of an element and of one of its valences; without redox reactions each valence must "
              "be given: {}",
              element, other, valences(database, element));
    }
    masters.push_back(m);
  }
  return masters;
}

/// Sites and potentials of the sorbents. Returns the master species of the sites.
std::vector<std::string> add_sites(const Database& database, const std::vector<Sorbent>& sorbents,
                                   ChemicalSystem& system) {
  std::vector<std::string> masters, known;
  for (const SorptionMaster& m : database.sorption_masters) known.push_back(m.site);
  std::size_t n_sites = 0;
  for (const Sorbent& sorbent : sorbents) n_sites += sorbent.sites.size();
  for (const Sorbent& sorbent : sorbents) {
    if (sorbent.charged) system.potentials.push_back(sorbent.name);
    for (const std::string& site : sorbent.sites) {
      const SorptionMaster* m = database.sorption_master(site);
      const std::string near = nearest(site, known);
      require(m != nullptr, "{}: site {} is not in database {}{}", sorbent.name, site, database.name,
              !near.empty()   ? fmt::format("; did you mean {}?", near)
              : known.empty() ? ", which has none"
                              : fmt::format("; there are: {}", join(known)));
      require(std::ranges::find(system.sites, site, &SorbingSite::name) == system.sites.end(),
              "{}: site {} is given already; each site may be given once", sorbent.name, site);
      system.sites.push_back({site, m->place,
                              sorbent.charged ? system.n_primaries + static_cast<int>(n_sites) +
                                                    static_cast<int>(system.potentials.size()) - 1
                                              : -1});
      masters.push_back(m->species);
    }
  }
  return masters;
}

/// Takes the site of what sorbs, and the charge that its reaction brings to a charged surface, into account.
void sorb(const Database& database, const DatabaseSpecies& s, const std::vector<std::string>& masters,
          const DebyeHueckel& dh, ChemicalSystem& system, SystemSpecies& made) {
  double brought = s.formula.charge;
  for (const auto& [b, c] : made.formed.basis) {
    const int site = b - system.n_primaries;
    if (site < 0) continue;
    if (made.site >= 0)
      throw Error(fmt::format("{}: it sorbs to two kinds of sites, {} and {}; this is not supported", s.name,
                              system.sites[made.site].name, system.sites[site].name));
    made.site = site;
    made.covers = c;
    brought -= c * database.find_species(masters[site])->formula.charge;
  }
  require(made.site >= 0, "{}: its reaction contains no site", s.name);
  const SorbingSite& site = system.sites[made.site];
  made.activity = activity_of(s, made.covers, dh);
  if (site.potential < 0) return;
  require(!s.three_planes,
          "{}: its charge is distributed over planes (CD-MUSIC), which is not supported; electrostatics = \"none\" "
          "ignores it",
          s.name);
  if (brought != 0.0) made.formed.basis.emplace_back(site.potential, -brought);
}

/// @param sites  master species of the sites
void add_species(const Database& database, Basis& basis, const std::vector<const MasterSpecies*>& masters,
                 const std::vector<std::string>& sites, ChemicalSystem& system) {
  const DebyeHueckel dh = debye_hueckel(system.kelvin);
  std::set<std::string> primaries;
  const auto add = [&](const DatabaseSpecies& s, const Expression& e) {
    SystemSpecies made{s.name, s.formula.charge, 0.0, activity_of(s, s.formula.charge, dh), mass_action(e, -e.ln_k)};
    if (s.place != SpeciesPlace::dissolved)
      sorb(database, s, sites, dh, system, made);
    else
      for (const auto& [p, c] : made.formed.basis) made.alkalinity += c * masters[p]->alkalinity;
    system.species.push_back(std::move(made));
  };
  for (const MasterSpecies* m : masters) {
    primaries.insert(m->species);
    add(*database.find_species(m->species), *basis.of(m->species));
  }
  for (const bool sorbed : {false, true}) {
    for (const DatabaseSpecies& s : database.species) {
      if (primaries.contains(s.name) || s.name == "H2O" || s.name == "e-") continue;
      // An exchanger without an ion is but a word for how it is written.
      const bool bare = s.place == SpeciesPlace::exchanger && std::ranges::count(sites, s.name) > 0;
      if (bare || (s.place != SpeciesPlace::dissolved) != sorbed) continue;
      if (const auto& e = basis.of(s.name)) add(s, *e);
    }
    if (!sorbed) system.n_dissolved = static_cast<int>(system.species.size());
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

ChemicalSystem make_system(const Database& database, const std::vector<std::string>& elements, double kelvin,
                           const std::vector<Sorbent>& sorbents) {
  const std::vector<const MasterSpecies*> masters = masters_of(database, elements);
  ChemicalSystem system;
  system.kelvin = kelvin;
  system.n_primaries = static_cast<int>(masters.size());
  std::vector<std::string> names;
  for (const MasterSpecies* m : masters) {
    const auto& there = database.find_species(m->species)->formula.elements;
    const auto own = there.find(m->element.substr(0, m->element.find('(')));
    system.elements.push_back(m->element);
    system.atoms.push_back(own == there.end() ? 1.0 : own->second);
    names.push_back(m->species);
  }
  const std::vector<std::string> sites = add_sites(database, sorbents, system);
  names.insert(names.end(), sites.begin(), sites.end());
  Basis basis(database, names, kelvin);
  add_species(database, basis, masters, sites, system);
  for (const DatabasePhase& p : database.phases)
    if (const auto e = basis.sum(p.dissolved))
      system.phases.push_back({p.name, mass_action(*e, p.constant.log_k(kelvin) * ln10 - e->ln_k), p.is_gas(),
                               p.critical_temperature, p.critical_pressure, p.acentric, p.molar_volume});
  system.table = make_table(system);
  return system;
}

}  // namespace karst
