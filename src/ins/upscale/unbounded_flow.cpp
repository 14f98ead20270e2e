// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/unbounded_flow.hpp"

#include <fmt/format.h>

#include "base/core/text.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

bool is_unbounded(const FlowOptions& options, const Geometry& geometry, int axis) {
  const Domain& domain = domain_of(geometry);
  const FlowSides sides = flow_sides(domain, options, axis);
  for (int side = 0; side < 6; ++side)
    if (sides[side] == FlowSide::no_slip && !domain.periodic[direction_of(side)]) return false;
  return geometry.report.specific_surface == 0.0 && geometry.report.porosity == 1.0;
}

std::string unbounded_drive(const FlowOptions& options, const Geometry& geometry, int axis) {
  const bool by_pressure = options.drive == FlowDrive::pressure_drop || options.drive == FlowDrive::pressure_gradient;
  if (!by_pressure || !is_unbounded(options, geometry, axis)) return "";
  return fmt::format(
      "flow.drive: \"{}\", but nothing resists the flow along {}: there is neither a wall nor a lateral face with "
      "friction, so there is no steady flow; use drive = \"velocity\" or \"flow-rate\", or flow.sides = \"no-slip\"",
      options.drive == FlowDrive::pressure_drop ? "pressure-drop" : "pressure-gradient", axis_names[axis]);
}

}  // namespace karst
