// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "chemistry/solution.hpp"

namespace karst {

/// 100 Σ z m / Σ |z| m: PHREEQC's percent error, 100 (cations - |anions|) / (cations + |anions|). 0 without ions. Not
/// collective.
double charge_error(const Solution& solution);

}  // namespace karst
