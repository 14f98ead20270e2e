// SPDX-License-Identifier: BSD-3-Clause
// Eight numbers that the processor works on side by side.
#pragma once

#include <cstring>

namespace karst {

/// The compiler keeps them together, where it makes others of loops of eight inside of a template.
using Eight [[gnu::vector_size(64)]] = double;

inline Eight load_eight(const double* from) {
  Eight v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
inline void store_eight(const Eight& v, double* to) { std::memcpy(to, &v, sizeof(v)); }

}  // namespace karst
