// SPDX-License-Identifier: BSD-3-Clause
// The [dispersion] table of the deck. SI units.
#pragma once

#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

struct DispersionOptions {
  std::vector<int> axes;       ///< 0, 1, 2: of the flow, increasing; empty: the job is not requested
  std::vector<double> peclet;  ///< mean velocity of the fluid x length / diffusivity; empty: that of the flow
  double length = 0.0;         ///< of the Péclet number [m]; 0: mean grain diameter
  double diffusivity = 1e-9;   ///< of the dissolved species in the free fluid [m²/s]
  bool transverse = true;      ///< all directions that repeat, not only that of the flow
  double tolerance = 1e-6;     ///< relative residual
  int max_iterations = 300;
  bool estimate_error = true;  ///< of the discretisation
};

/// Declares and reads [dispersion]; validation errors: an axis that does not exist or is given twice, Péclet numbers
/// that do not increase, and keys without axes.
void read(Reader& in, DispersionOptions& options);

}  // namespace karst
