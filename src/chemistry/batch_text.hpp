// SPDX-License-Identifier: BSD-3-Clause
// Tables of a batch reaction.
#pragma once

#include <string>
#include <vector>

#include "chemistry/kinetics.hpp"
#include "chemistry/solution.hpp"

namespace karst {

/// pH, what has dissolved, saturation indices and totals at each time, for the terminal.
std::string batch_text(const Solution& start, const std::vector<KineticMineral>& minerals,
                       const std::vector<BatchState>& states);

/// The same as lines solution,time_s,kind,name,value,unit; the first line names the columns when `header`.
std::string batch_csv(const Solution& start, const std::vector<KineticMineral>& minerals,
                      const std::vector<BatchState>& states, bool header);

}  // namespace karst
