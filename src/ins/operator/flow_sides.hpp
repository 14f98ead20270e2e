// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace karst {

/// What the flow meets at one end of the domain; not looked at where the domain is periodic.
///   no_slip    u = 0 on the end
///   symmetry   no flow through it, no friction along it
///   pressure   the pressure is given there, the velocity does not change along the normal
enum class FlowSide : std::uint8_t { no_slip, symmetry, pressure };

/// -x +x -y +y -z +z
using FlowSides = std::array<FlowSide, 6>;

}  // namespace karst
