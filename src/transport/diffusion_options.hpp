// SPDX-License-Identifier: BSD-3-Clause
// The [diffusion] table of the deck: effective diffusivity and formation factor. SI units.
#pragma once

#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

struct DiffusionOptions {
  std::vector<int> axes;      ///< 0, 1, 2: directions of the mean gradient, increasing; empty: the job is not requested
  double diffusivity = 1e-9;  ///< of the dissolved species in the free fluid [m²/s]
  double tolerance = 1e-8;    ///< ||b - A c|| <= tolerance ||b||
  int max_iterations = 500;
  bool estimate_error = true;  ///< also on wider cells
};

/// Declares and reads [diffusion]; validation errors: an axis that does not exist or is given twice, and keys without
/// axes.
void read(Reader& in, DiffusionOptions& options);

}  // namespace karst
