// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

namespace karst {

/// Where there is nothing to tell: null in JSON, empty in CSV.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace karst
