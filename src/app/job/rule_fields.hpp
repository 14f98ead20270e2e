// SPDX-License-Identifier: BSD-3-Clause
// Places to be followed that more than one process can find: by its velocities, and by a formula of its fields.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/job/job.hpp"
#include "transport/regrid/indicator.hpp"

namespace karst {

/// What a process knows of the quantities that a rule may name.
struct RuleFields {
  ScalarGrid& grid;
  double time;                                                                       ///< [s]
  std::function<Velocities()> velocities;                                            ///< of own volumes [m/s]
  std::function<std::span<const double>(const std::string& component)> component{};  ///< of own volumes [C]
};

/// Of where = "speed", "vorticity" and "formula". Throws the same Error on all ranks: a formula that is no number at
/// some place. Collective.
Indicator indicator_of(const JobContext& context, const Refinement& rule, const RuleFields& fields);

}  // namespace karst
