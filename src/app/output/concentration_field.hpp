// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>

#include "app/job/job.hpp"

namespace karst {

/// The field of a component for the plotfile and the pictures. Collective.
/// @param values  own unknowns
JobComponent concentration_field(const JobContext& run, const std::string& name, std::span<const double> values);

}  // namespace karst
