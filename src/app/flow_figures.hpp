// SPDX-License-Identifier: BSD-3-Clause
// Pictures of a velocity field for the page.
#pragma once

#include <map>
#include <string>

#include "app/field_view.hpp"

namespace karst {

/// Pieces of HTML by name; on rank 0 alone.
using Figures = std::map<std::string, std::string>;

/// Of the two planes through an axis, that across the narrower direction.
int across(const Index& cells, int axis);

struct FlowFigure {
  int axis = 0;
  std::string prefix;  ///< of the components: prefix + "velocity_x" ...
  int reservoir = 0;   ///< cells before and behind the sample
};
/// Adds "flow x slice" and "flow x view" (for axis x ...): the speed in the middle plane, and streamlines in the pore
/// space. Nothing when the view does not hold the velocity. Collective.
void add_flow_figures(const Comm& comm, const FieldView& view, const FlowFigure& flow, Figures& figures);

}  // namespace karst
