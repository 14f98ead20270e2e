// SPDX-License-Identifier: BSD-3-Clause
// What a starting deck sets for each of the jobs that `karst init --job` offers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace karst {

/// A key that the deck sets. A key of a list of tables (`chemistry.solution[].name`) that comes again begins the next
/// table of the list.
struct Setting {
  std::string key, value;  ///< value in TOML
};
using Settings = std::vector<Setting>;

struct InitJob {
  std::string_view name, computes;  ///< the latter as in "computes the permeability"
  Settings (*settings)();           ///< beside geometry, grid and output.directory
};

/// The first is that of a deck without --job; the last is that of the cases of a study.
const std::array<InitJob, 6>& init_jobs();

/// Throws Error with the names there are.
const InitJob& init_job(std::string_view name);

}  // namespace karst
