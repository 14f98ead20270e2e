// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` shows: its results as text, as JSON and as part of the page.
#pragma once

#include <string>
#include <vector>

#include "app/job.hpp"
#include "ins/permeability.hpp"

namespace karst {

using FlowColumns = std::vector<FlowColumn>;

/// Level-0 cells of the sample, and what was added to both ends of each axis.
struct FlowGrid {
  Index sample;
  int reservoir = 0;
  Index with_reservoirs(int axis) const {
    Index cells = sample;
    cells[axis] += 2 * reservoir;
    return cells;
  }
};

/// Lines for the terminal.
/// @param with_error  errors were estimated
std::string flow_text(const FlowColumns& columns, const FlowGrid& grid, bool with_error);
/// Members of summary.json: permeability_m2 (rows e, columns d; null in columns of axes that were not asked for),
/// permeability_darcy, darcy_velocity_m_s (one vector per asked axis), reynolds (largest), flow (one object per axis).
std::string flow_json(const FlowColumns& columns, const FlowGrid& grid, bool with_error);
/// See Job.
PagePart flow_page(const nlohmann::ordered_json& summary, const Figures& figures);
void draw_flow(const Comm& comm, const nlohmann::ordered_json& summary, const FieldView& view, Figures& figures);
/// 1.23e-12 m² -> "1.25 D", 1.23e-15 m² -> "1.25 mD".
std::string darcy_text(double permeability);

}  // namespace karst
