// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace karst {

/// A solid phase or the pore.
struct PhaseShare {
  std::string name;
  int label = 0;
  double share = 0;  ///< of the sample
};

}  // namespace karst
