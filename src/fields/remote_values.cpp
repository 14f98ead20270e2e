// SPDX-License-Identifier: BSD-3-Clause
#include "fields/remote_values.hpp"

#include <algorithm>
#include <cassert>

namespace karst {

RemoteUnknowns::RemoteUnknowns(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted)
    : numbers_(std::move(wanted)) {
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  std::vector<RemoteItem> items;
  for (const GlobalNumber g : numbers_) {
    const int rank = numbering.owner(g);
    items.push_back({rank, static_cast<std::int32_t>(g - numbering.ranges()[rank])});
  }
  exchange_ = ListExchange(comm, items);
}

std::int32_t RemoteUnknowns::place(GlobalNumber g) const {
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), g);
  assert(at != numbers_.end() && *at == g);
  return static_cast<std::int32_t>(at - numbers_.begin());
}

std::int64_t RemoteUnknowns::bytes() const {
  return static_cast<std::int64_t>(numbers_.capacity() * sizeof(GlobalNumber)) + exchange_.bytes();
}

}  // namespace karst
