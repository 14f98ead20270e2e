// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/deck/deck.hpp"

namespace karst {

/// From ions in dense solids to gases at low pressure [m²/s].
inline constexpr UsualRange usual_diffusivities{1e-16, 1e-2};

}  // namespace karst
