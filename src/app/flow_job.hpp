// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` shows: its results as text, as JSON and as part of the page.
#pragma once

#include <string>
#include <vector>

#include "app/job.hpp"
#include "ins/permeability.hpp"

namespace karst {

using FlowColumns = std::vector<FlowColumn>;

/// Lines for the terminal.
/// @param with_error  errors were estimated
std::string flow_text(const FlowColumns& columns, bool with_error);
/// Members of summary.json: permeability_m2 (rows e, columns d; null in columns of axes that were not asked for),
/// permeability_darcy, darcy_velocity_m_s (one vector per asked axis), reynolds (largest), flow (one object per axis).
std::string flow_json(const FlowColumns& columns, bool with_error);
/// Pictures need all ranks. Collective.
PagePart flow_page(const JobContext& run, const FlowColumns& columns);
/// 1.23e-12 m² -> "1.25 D", 1.23e-15 m² -> "1.25 mD".
std::string darcy_text(double permeability);

}  // namespace karst
