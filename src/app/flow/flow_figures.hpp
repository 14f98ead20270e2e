// SPDX-License-Identifier: BSD-3-Clause
// Pictures of a velocity field for the page.
#pragma once

#include <string>

#include "app/output/field_view.hpp"
#include "page/run_page.hpp"

namespace karst {

struct FlowFigure {
  int axis = 0;
  std::string prefix;  ///< of the components: prefix + "velocity_x" ...
  int reservoir = 0;   ///< cells before and behind the sample
};
/// Adds "flow x slice" and "flow x view" (for axis x ...): the speed in the middle plane, and streamlines in the pore
/// space. Nothing when the view does not hold the velocity. Collective.
void add_flow_figures(const Comm& comm, const FieldView& view, const FlowFigure& flow, Figures& figures);

/// Adds a card with the pictures of one axis, unless there is none.
void add_flow_card(const std::string& title, const std::string& axis, const Figures& figures,
                   std::vector<std::string>& cards);

}  // namespace karst
