// SPDX-License-Identifier: BSD-3-Clause
// Thermodynamic databases in PHREEQC's format (Parkhurst and Appelo 2013, USGS Techniques and Methods 6-A43).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chemistry/formula.hpp"

namespace karst {

/// log10 of an equilibrium constant over the temperature: the analytical expression if there is one, otherwise van 't
/// Hoff's.
struct EquilibriumConstant {
  double log_k_25 = 0.0;             ///< at 25 °C
  double enthalpy = 0.0;             ///< of the reaction [kJ/mol]
  std::array<double, 6> analytic{};  ///< A1 + A2 T + A3/T + A4 log10 T + A5/T² + A6 T²
  bool has_analytic = false;
  /// At T kelvin.
  double log_k(double kelvin) const;
};

/// Activity coefficient, log10 γ at ionic strength I.
enum class ActivityModel : std::uint8_t {
  davies,         ///< -A z² (√I / (1 + √I) - 0.3 I)
  debye_hueckel,  ///< -A z² √I / (1 + B a √I) + b I: Truesdell and Jones (WATEQ)
  uncharged,      ///< 0.1 I
  one             ///< of water and electrons, and of what sorbs unless the database says otherwise
};

/// One line of SOLUTION_MASTER_SPECIES.
struct MasterSpecies {
  std::string element;          ///< "Ca", "C(4)", "Alkalinity"
  std::string species;          ///< "Ca+2"
  double alkalinity = 0.0;      ///< of a mole of the species [eq]
  std::string counted_as;       ///< formula or number whose grams stand for a mole of the element: "HCO3"
  double element_weight = 0.0;  ///< [g/mol]; 0 in lines of one valence
};

/// Where a species occurs.
enum class SpeciesPlace : std::uint8_t { dissolved, exchanger, surface };

/// One line of EXCHANGE_MASTER_SPECIES or SURFACE_MASTER_SPECIES.
struct SorptionMaster {
  std::string site;     ///< "X", "Hfo_w"
  std::string species;  ///< "X-", "Hfo_wOH"
  SpeciesPlace place = SpeciesPlace::exchanger;
};

/// One species of SOLUTION_SPECIES, EXCHANGE_SPECIES or SURFACE_SPECIES.
struct DatabaseSpecies {
  std::string name;
  SpeciesPlace place = SpeciesPlace::dissolved;
  ChemicalFormula formula;
  /// Formed from: Σ coefficient species = 1 name. Empty for master species.
  std::vector<ReactionTerm> from;
  EquilibriumConstant constant;
  ActivityModel activity =
      ActivityModel::davies;            ///< activity of sorbed species in addition to their fraction of the sites
  double ion_size = 0.0, linear = 0.0;  ///< a [Å] and b [kg/mol] of debye_hueckel
  bool three_planes = false;            ///< its charge is distributed over planes (CD-MUSIC)
};

/// One mineral or gas of PHASES.
struct DatabasePhase {
  std::string name;
  ChemicalFormula formula;
  std::vector<ReactionTerm> dissolved;  ///< 1 formula = Σ coefficient species
  EquilibriumConstant constant;
  double molar_volume = 0.0;                                                   ///< [cm³/mol]; 0: not given
  double critical_temperature = 0.0, critical_pressure = 0.0, acentric = 0.0;  ///< of a gas [K], [atm], [-]
  bool is_gas() const { return critical_temperature > 0.0 || name.ends_with("(g)"); }
};

/// One line of RATE_PARAMETERS_PK or RATE_PARAMETERS_HERMANSKA.
struct DatabaseRate {
  std::string mineral;
  std::string source;              ///< "PK", "HERMANSKA"
  std::vector<std::string> paths;  ///< as parse_rate_path() (kinetics.hpp) reads them
};

struct Database {
  std::string name;
  std::uint64_t fingerprint = 0;  ///< checksum of its text: another text has almost certainly another one
  std::vector<MasterSpecies> masters;
  std::vector<SorptionMaster> sorption_masters;
  std::vector<DatabaseSpecies> species;
  std::vector<DatabasePhase> phases;
  std::vector<DatabaseRate> rates;
  std::vector<std::string> ignored;    ///< blocks that are not read, e.g. MEAN_GAMMAS
  std::vector<std::string> unchecked;  ///< species with -no_check, which are left out

  const MasterSpecies* master(std::string_view element) const;
  const SorptionMaster* sorption_master(std::string_view site) const;
  const DatabaseSpecies* find_species(std::string_view name) const;
  const DatabasePhase* phase(std::string_view name) const;
  /// Molar mass [g/mol] of a formula, or the number in the text. Throws Error for unknown elements.
  double gram_formula_weight(const std::string& text) const;
};

/// The element, or the phase, of this name. Throws Error if there is none, with the nearest name. Not collective.
const MasterSpecies& require_element(const Database& database, const std::string& element);
const DatabasePhase& require_phase(const Database& database, const std::string& phase);

/// One sentence that lists the unused blocks and species of a database; empty if there are none.
std::string left_out(const Database& database);

/// Reads a database: comments, `;`, continuation lines after \, CRLF, bytes that are not UTF-8; a later definition of a
/// species or phase replaces an earlier one. Throws Error with name, line and entry for unreadable entries, reactions
/// that do not balance, and parameters of the Pitzer, SIT or LLNL models (whose activity coefficients are not
/// available). Not collective.
Database parse_database(std::string_view text, const std::string& name);

/// Only the blocks of rates, of a file that need not contain anything else. Throws Error as parse_database(), and if
/// there are none. Not collective.
std::vector<DatabaseRate> read_rates(const std::string& path);

/// As parse_database(), from a file followed by others, which need only contain their additions and are read later.
/// Messages contain the file and the line in it. Not collective: under MPI every rank reads them.
Database read_database(const std::string& path, const std::vector<std::string>& additions = {});

}  // namespace karst
