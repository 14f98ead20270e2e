// SPDX-License-Identifier: BSD-3-Clause
// The species that a set of elements makes, written in a basis of primary species.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/database.hpp"
#include "chemistry/water.hpp"

namespace karst {

/// ln γ(I) = -A z² f(I) + b I, f = √I / (1 + B a √I), with A and b of natural logarithms.
struct ActivityCoefficient {
  double az2 = 0.0;  ///< A z² ln 10
  double ba = 0.0;   ///< B a
  double b = 0.0;    ///< b ln 10
};

/// A mass action: ln IAP = Σ coefficient ln a(primary) + water ln a(H2O) - ln_k.
struct MassAction {
  std::vector<std::pair<int, double>> primaries;  ///< number of the primary species, coefficient
  double water = 0.0;
  double ln_k = 0.0;
};

struct SystemSpecies {
  std::string name;
  double charge = 0.0;
  double alkalinity = 0.0;  ///< [eq/mol]
  ActivityCoefficient activity;
  MassAction
      formed;  ///< of the primaries: ln a = formed; a primary is itself with ln_k = 0. Its ln_k is -ln K of formation
};

struct SystemPhase {
  std::string name;
  MassAction dissolved;  ///< saturation: ln Ω = Σ coefficient ln a + water ln a(H2O) - ln K
  bool is_gas = false;
  double critical_temperature = 0.0, critical_pressure = 0.0, acentric = 0.0;
  double molar_volume = 0.0;  ///< [cm³/mol]
};

/// Species and phases at one temperature. Primary species stand first, H+ before all others; each stands for one
/// element or valence, whose total is the sum over species of the coefficient of the primary.
struct ChemicalSystem {
  double kelvin = 298.15;
  int n_primaries = 0;
  std::vector<std::string> elements;  ///< [primary] "H", "Ca", "C"
  std::vector<SystemSpecies> species;
  std::vector<SystemPhase> phases;  ///< all of the database that the elements make

  int primary_of(std::string_view element) const;  ///< -1: none
  int phase(std::string_view name) const;          ///< -1: none
  int species_of(std::string_view name) const;     ///< -1: none
};

/// Valences are separate elements, "S(6)" and "S(-2)", and exchange no electrons; an element without one is that of its
/// master species. Species and phases that only electrons or other elements could form are left out. Throws Error for
/// elements that the database does not have (naming the nearest) and for two names of the same master species. Not
/// collective.
/// @param elements  without H and O
ChemicalSystem make_system(const Database& database, const std::vector<std::string>& elements, double kelvin);

}  // namespace karst
