// SPDX-License-Identifier: BSD-3-Clause
// Whatever belongs to boxes, sent to their owners of another distribution. For set-up.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/core/error.hpp"
#include "grid/layout.hpp"

namespace karst {

using BoxBytes = std::vector<std::byte>;

/// Layouts of the same boxes of all levels, with other owners.
struct OtherOwners {
  std::vector<const Layout*> from, to;
};

/// Sends the bytes of each own box of `from` to its owner in `to`, those that stay included.
/// @param bytes_of  (level, own box of `from`)
/// @param take      (level, own box of `to`, its bytes), by increasing level and box
/// Throws Error on all ranks where the boxes are not the same. Collective.
void send_boxes(const Comm& comm, const OtherOwners& owners,
                const std::function<BoxBytes(int level, int box)>& bytes_of,
                const std::function<void(int level, int box, std::span<const std::byte>)>& take);

/// Values of one type behind what is there.
template <class T>
void pack(BoxBytes& to, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(values);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Takes values of one type from the front.
template <class T>
void unpack(std::span<const std::byte>& from, std::span<T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  require(values.size_bytes() <= from.size(), "a box has {} bytes left, {} are expected", from.size(),
          values.size_bytes());
  if (!values.empty()) std::memcpy(values.data(), from.data(), values.size_bytes());
  from = from.subspan(values.size_bytes());
}

}  // namespace karst
