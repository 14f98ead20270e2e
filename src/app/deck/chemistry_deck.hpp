// SPDX-License-Identifier: BSD-3-Clause
// The [chemistry] table of a deck: `karst speciate` reads its solutions and batch reactions, `karst run` transports
// solutions and lets minerals react with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "chemistry/phreeqc_engine.hpp"
#include "chemistry/vessel.hpp"

namespace karst {

/// A mineral, in a vessel, in every cell or on walls.
struct MineralDeck {
  MineralOptions options;
  std::string wall;       ///< mineral of the geometry, or "all"; empty: in the volume
  double fraction = 1.0;  ///< of the area of the wall
  bool deposit = false;   ///< it lies on the wall, as far as it has precipitated there
  double cover = 1e-6;    ///< thickness at which a deposit covers the wall [m]
};

/// What `karst speciate` adds to the solutions.
struct TitrationDeck {
  std::vector<std::string> reactants;  ///< see parse_reactant()
  std::vector<double> amounts;         ///< in all, after each step [mol/kgw]
};

/// One [[chemistry.inflow]].
struct InflowDeck {
  std::string solution;
  std::string where;  ///< formula of x, y, z [m], not 0 where it enters
};

/// What solves solutions and reactions.
enum class ChemistryEngine : std::uint8_t { karst, phreeqcrm };

/// How minerals on walls react in a step (decision 035).
enum class WallCoupling { as_needed, in_turn, coupled };

struct ChemistryDeck {
  std::string title;
  ChemistryEngine engine = ChemistryEngine::karst;
  std::string database = "phreeqc.dat";
  std::vector<std::string> additions;  ///< files that are read behind the database
  std::string rates;                   ///< file of rate parameters beside those of the database; empty: none
  std::vector<SolutionOptions> solutions;
  std::vector<MineralDeck> minerals;
  std::vector<SorbentOptions> sorbents;  ///< exchangers, then surfaces
  std::vector<EquilibriumOptions> equilibria;
  std::vector<double> times;         ///< of the batch reaction [s]; empty: none
  TitrationDeck titration;           ///< no reactants: none
  std::string initial, inlet;        ///< names of solutions
  std::vector<InflowDeck> inflows;   ///< in place of one at the inlet
  std::vector<std::string> species;  ///< to plot
  WallCoupling walls = WallCoupling::as_needed;
  double skip = 1e-7;  ///< ReactionOptions::skip

  bool asked() const { return !solutions.empty(); }
  std::string databases() const;  ///< "phreeqc.dat, mine.dat"
};

enum class ChemistryUse : std::uint8_t { speciate, run };

/// Declares and reads the table; notes as mistakes: totals that cannot be read, two solutions of one name, minerals
/// without a phase, rates or surface, sorbents without sites, and what the command does not use. For `karst speciate`
/// also the title, and that there is a solution.
void read(Reader& in, ChemistryDeck& deck, ChemistryUse use);

/// The database of the deck; minerals whose rates are "database" get those of the file chemistry.rates, else of the
/// database. Notes what is wrong with either, and phases that the database does not have: minerals are then without
/// rates, equilibria left out. Empty without a database. Not collective.
std::optional<Database> read_database_of(Reader& in, ChemistryDeck& deck);

/// Paths of what the engine phreeqcrm reads; empty for the engine karst. Throws Error where a file is missing. Not
/// collective.
std::optional<PhreeqcFiles> phreeqc_files(const ChemistryDeck& deck, const std::string& deck_directory);

}  // namespace karst
