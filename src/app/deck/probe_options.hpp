// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

/// [[output.probe]]
struct ProbeOptions {
  std::string name;
  Vec3 position;  ///< [m]
};
/// Declares and reads them; notes what is missing, and names that are there twice.
void read(Reader& in, std::vector<ProbeOptions>& probes);

}  // namespace karst
