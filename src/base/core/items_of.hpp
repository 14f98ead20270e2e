// SPDX-License-Identifier: BSD-3-Clause
// Sorted lists.
#pragma once

#include <algorithm>
#include <functional>
#include <ranges>
#include <span>
#include <vector>

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

/// Leaves the first of items that follow each other with the same key. As std::ranges::unique, for the same reason.
template <class Item, class KeyOf = std::identity>
void erase_repeated(std::vector<Item>& sorted, KeyOf key_of = {}) {
  const auto same = [&](const Item& a, const Item& b) { return std::invoke(key_of, a) == std::invoke(key_of, b); };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
}

}  // namespace karst
