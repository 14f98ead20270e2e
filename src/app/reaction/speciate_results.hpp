// SPDX-License-Identifier: BSD-3-Clause
// What `karst speciate` finds, as tables, JSON and a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deck/chemistry_deck.hpp"
#include "chemistry/vessel.hpp"

namespace karst {

/// A solution, and what is done with it.
struct Speciated {
  Solution solution;
  Vessel vessel;
  std::optional<BatchState> equilibrium;  ///< with all that is in equilibrium
  std::vector<BatchState> batch;          ///< over chemistry.times
  std::vector<BatchState> titration;      ///< over what is added
};

/// A table of all solutions: lines of CSV, the first of which names the columns.
struct SpeciateTable {
  std::string name;  ///< "", "batch", "titration"
  std::string csv;
};

/// Writes what was found to the terminal and returns its tables; the first one is that of solutions.
std::vector<SpeciateTable> tell_speciated(const std::vector<Speciated>& all, const ChemistryDeck& deck);

/// {"database": ..., "solutions": [...], "batch": [...], "titration": [...]}: lines of the tables as objects.
std::string speciate_json(const std::vector<SpeciateTable>& tables, const std::string& database);

/// Solutions side by side; charts of what happens over time, and over what is added.
/// @param source  the deck
std::string speciate_page(const std::vector<Speciated>& all, const ChemistryDeck& deck, const std::string& source);

}  // namespace karst
