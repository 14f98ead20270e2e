// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "grid/field.hpp"

namespace karst {

/// Velocity and pressure of one VoF as Quad has them, in single precision.
using FloatQuad = Values<4>;

}  // namespace karst
