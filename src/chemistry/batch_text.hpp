// SPDX-License-Identifier: BSD-3-Clause
// Tables of a batch reactor: over time, over the added amount, and in equilibrium.
#pragma once

#include <string>
#include <vector>

#include "chemistry/batch.hpp"

namespace karst {

/// Labels of states: over the time of a batch reaction, or over the amount added in a titration.
struct StatesOver {
  const char* what;    ///< "Batch reaction"
  const char* head;    ///< of the first column: "time [s]"
  const char* column;  ///< of the CSV: "time_s"
  bool rates;          ///< minerals that react at rates do so
};
constexpr StatesOver over_time{"Batch reaction", "time [s]", "time_s", true};
constexpr StatesOver over_added{"Titration", "added", "added_mol_kgw", false};

/// pH, dissolved amounts, saturation indices and totals of each state, for the terminal.
/// @param name  of the solution
std::string states_text(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                        const StatesOver& over);

/// The same as lines solution,time_s,kind,name,value,unit, and the sorbed amount of each element; the first line
/// contains the column names if `header`.
std::string states_csv(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                       const StatesOver& over, bool header);

/// pH, ionic strength, totals, and of each phase in equilibrium its saturation index, dissolved and remaining amounts.
std::string equilibrium_text(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                             const BatchState& state);

/// The same as lines of solution_csv(); kinds: equilibrium_property, equilibrium_total, dissolved, left.
std::string equilibrium_csv(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                            const BatchState& state);

}  // namespace karst
