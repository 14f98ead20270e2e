// SPDX-License-Identifier: BSD-3-Clause
// The [dynamic_permeability] table of the deck. SI units.
#pragma once

#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

struct DynamicOptions {
  std::vector<int> axes;            ///< 0, 1, 2: of the drive, increasing; empty: the job is not asked for
  std::vector<double> frequencies;  ///< increasing [Hz]; empty: from slow to what the cells resolve
};

/// Declares and reads [dynamic_permeability]; notes as mistakes: an axis that does not exist or stands twice,
/// frequencies that do not increase, and keys without axes.
void read(Reader& in, DynamicOptions& options);

}  // namespace karst
