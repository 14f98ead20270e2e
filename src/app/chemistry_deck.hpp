// SPDX-License-Identifier: BSD-3-Clause
// The [chemistry] table of a deck, which `karst speciate` reads.
#pragma once

#include <string>
#include <vector>

#include "base/deck.hpp"
#include "chemistry/kinetics.hpp"
#include "chemistry/solution.hpp"

namespace karst {

struct ChemistryDeck {
  std::string title;
  std::string database = "phreeqc.dat";
  std::vector<SolutionOptions> solutions;
  std::vector<MineralOptions> minerals;
  std::vector<double> times;  ///< of the batch reaction [s]; empty: none
};

/// Declares and reads the table; notes as mistakes: no solution, totals that cannot be read, two solutions of one name.
void read(Reader& in, ChemistryDeck& deck);

/// The declared keys, for the documentation.
std::vector<KeyInfo> chemistry_keys();

/// Path of a database: beside the deck, or the one of this name that Karst brings along. Throws Error when there is
/// neither, naming both places. Not collective.
std::string database_path(const std::string& name, const std::string& deck_directory);

}  // namespace karst
