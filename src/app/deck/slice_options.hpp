// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

enum class SliceKind : std::uint8_t { plane, mean };

/// [[output.slice]]
struct SliceOptions {
  std::string name;
  int axis = 2;  ///< across the plane, or along which the mean is taken
  SliceKind kind = SliceKind::plane;
  double at = -1.0;    ///< of the plane, from the low end of the domain [m]; < 0: the middle
  double every = 0.0;  ///< [s]
};
/// Declares and reads them; notes what is missing, and names that are there twice.
void read(Reader& in, std::vector<SliceOptions>& slices);

}  // namespace karst
