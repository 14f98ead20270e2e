// SPDX-License-Identifier: BSD-3-Clause
// The species of a set of elements, dissolved and sorbed, expressed in a basis of primary species.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/database.hpp"
#include "chemistry/species_table.hpp"
#include "chemistry/water.hpp"

namespace karst {

/// A mass action: ln IAP = Σ coefficient ln a(basis) + water ln a(H2O) - ln_k.
struct MassAction {
  std::vector<std::pair<int, double>> basis;  ///< index in the basis, coefficient
  double water = 0.0;
  double ln_k = 0.0;
};

struct SystemSpecies {
  std::string name;
  double charge = 0.0;
  double alkalinity = 0.0;  ///< [eq/mol]
  ActivityCoefficient activity;
  MassAction
      formed;     ///< of the basis: ln a = formed; a primary is itself with ln_k = 0. Its ln_k is -ln K of formation
  int site = -1;  ///< site in ChemicalSystem::sites; -1: dissolved
  double covers = 0.0;  ///< sites per mole: equivalents of an exchanger, denticity on a surface
};

struct SystemPhase {
  std::string name;
  MassAction dissolved;  ///< saturation: ln Ω = Σ coefficient ln a + water ln a(H2O) - ln K
  bool is_gas = false;
  double critical_temperature = 0.0, critical_pressure = 0.0, acentric = 0.0;
  double molar_volume = 0.0;  ///< [cm³/mol]
};

/// A sorbent: an exchanger with its one site, or a surface with its kinds of sites.
struct Sorbent {
  std::string name;
  std::vector<std::string> sites;  ///< of the database: {"X"}, {"Hfo_w", "Hfo_s"}
  bool charged = false;            ///< a surface whose potential acts on its ions (diffuse layer)
};

struct SorbingSite {
  std::string name;
  SpeciesPlace place = SpeciesPlace::exchanger;
  int potential = -1;  ///< potential of its surface, index in the basis; -1: none
};

/// Species and phases at one temperature. The basis: primary species, H+ before all others, each of which represents
/// one element or valence; then the sites; then F ψ / (R T) of charged surfaces. Primaries are also first among the
/// species, and sorbed species last. Dissolved: a = m γ. On sites: a = covers m γ / N, the fraction of the N sites
/// (exchangers: Gaines and Thomas), times exp(-Δz F ψ / (R T)) of the charge Δz that the reaction brings to a charged
/// surface (Dzombak and Morel 1990, Surface Complexation Modeling).
struct ChemicalSystem {
  double kelvin = 298.15;
  int n_primaries = 0;
  std::vector<std::string> elements;  ///< [primary] "H", "Ca", "C"
  std::vector<double> atoms;          ///< [primary] of its element in the primary species, which totals count: 2 of O2
  std::vector<SorbingSite> sites;     ///< in the basis from n_primaries on
  std::vector<std::string> potentials;  ///< names of charged surfaces, behind the sites
  std::vector<SystemSpecies> species;
  int n_dissolved = 0;              ///< species before this one are dissolved
  std::vector<SystemPhase> phases;  ///< all phases of the database that consist of the elements
  SpeciesTable table;               ///< the same for solves

  int n_basis() const { return n_primaries + static_cast<int>(sites.size() + potentials.size()); }
  int primary_of(std::string_view element) const;  ///< -1: none
  int phase(std::string_view name) const;          ///< -1: none
  int species_of(std::string_view name) const;     ///< -1: none
};

/// Valences are separate elements, "S(6)" and "S(-2)", and exchange no electrons; an element without one is that of its
/// master species. Species and phases that need electrons or other elements are left out. Throws Error for elements and
/// sites that the database does not have (with the nearest name), for two names of the same master species, and for a
/// site of two sorbents. Not collective.
/// @param elements  without H and O
ChemicalSystem make_system(const Database& database, const std::vector<std::string>& elements, double kelvin,
                           const std::vector<Sorbent>& sorbents = {});

}  // namespace karst
