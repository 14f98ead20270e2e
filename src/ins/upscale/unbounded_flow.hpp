// SPDX-License-Identifier: BSD-3-Clause
// Unbounded flow: a domain without a wall and without a side with friction.
#pragma once

#include <string>

#include "eb/geometry.hpp"
#include "ins/upscale/flow_options.hpp"

namespace karst {

/// Whether nothing limits a flow along the axis: its permeability is infinite, and a given velocity is a uniform flow.
/// Not collective, the same on every rank.
bool is_unbounded(const FlowOptions& options, const Geometry& geometry, int axis);

/// Error message for a driving force along the axis in a job that needs its steady flow: a pressure drop or gradient
/// without friction to balance it. Empty if there is no error. Not collective, the same on every rank.
std::string unbounded_drive(const FlowOptions& options, const Geometry& geometry, int axis);

}  // namespace karst
