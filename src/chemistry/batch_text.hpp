// SPDX-License-Identifier: BSD-3-Clause
// Tables of a batch reaction.
#pragma once

#include <string>
#include <vector>

#include "chemistry/batch.hpp"

namespace karst {

/// pH, what has dissolved, saturation indices and totals at each time, for the terminal.
/// @param name  of the solution
std::string batch_text(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states);

/// pH, ionic strength, totals, and of each phase in equilibrium its saturation index, what has dissolved and what is
/// left.
std::string equilibrium_text(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                             const BatchState& state);

/// The same as lines of solution_csv(); kinds: equilibrium_property, equilibrium_total, dissolved, left.
std::string equilibrium_csv(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                            const BatchState& state);

/// Of batch_text() lines solution,time_s,kind,name,value,unit; the first line names the columns when `header`.
std::string batch_csv(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                      bool header);

}  // namespace karst
