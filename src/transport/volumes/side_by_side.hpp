// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

namespace karst {

/// Interleaved components in a step: component c of volume or face i at C i + c, so that lists, weights and messages
/// are shared. Each is bitwise the same as alone.
inline constexpr int most_side_by_side = 4;

/// f(std::integral_constant<int, width>), 1 to most_side_by_side.
template <class F>
decltype(auto) with_width(int width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    default:
      return f(std::integral_constant<int, most_side_by_side>{});
  }
}

}  // namespace karst
