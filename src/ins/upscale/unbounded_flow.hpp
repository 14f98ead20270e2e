// SPDX-License-Identifier: BSD-3-Clause
// A domain in which nothing holds the fluid: it has no wall, and no side with friction.
#pragma once

#include <string>

#include "eb/geometry.hpp"
#include "ins/upscale/flow_options.hpp"

namespace karst {

/// Nothing holds a flow along the axis: its permeability is infinite, and a velocity is that of all of it. Not
/// collective, the same on every rank.
bool is_unbounded(const FlowOptions& options, const Geometry& geometry, int axis);

/// What is wrong with a drive along the axis for a job that needs its steady flow: a pressure drop or gradient that
/// nothing holds against. Empty where nothing is. Not collective, the same on every rank.
std::string unbounded_drive(const FlowOptions& options, const Geometry& geometry, int axis);

}  // namespace karst
