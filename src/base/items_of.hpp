// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <ranges>
#include <span>

namespace karst {

/// The items of a range, sorted by a key, whose key is this one; O(log n). What std::ranges::equal_range does, without
/// its kind of range, which clang 14 cannot compile.
/// @param key_of  member or function
template <std::ranges::contiguous_range Range, class Key, class KeyOf>
auto items_of(const Range& sorted, const Key& key, KeyOf key_of) {
  const auto first = std::ranges::lower_bound(sorted, key, {}, key_of);
  return std::span<const std::ranges::range_value_t<Range>>(
      first, std::ranges::upper_bound(first, std::ranges::end(sorted), key, {}, key_of));
}

}  // namespace karst
