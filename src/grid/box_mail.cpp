// SPDX-License-Identifier: BSD-3-Clause
#include "grid/box_mail.hpp"

#include <array>
#include <map>

#include "base/comm/fail_together.hpp"

namespace karst {

namespace {

/// In front of the bytes of a box in a message.
using Head = std::array<std::int64_t, 3>;  // level, place in the layout, bytes

void require_same_boxes(const OtherOwners& owners) {
  require(owners.from.size() == owners.to.size(), "boxes of {} levels cannot be sent to {} levels", owners.from.size(),
          owners.to.size());
  for (std::size_t l = 0; l < owners.from.size(); ++l)
    require(owners.from[l]->keys() == owners.to[l]->keys() && owners.from[l]->box_size() == owners.to[l]->box_size(),
            "level {} has other boxes: they cannot be sent", l);
}

}  // namespace

void send_boxes(const Comm& comm, const OtherOwners& owners,
                const std::function<BoxBytes(int level, int box)>& bytes_of,
                const std::function<void(int level, int box, std::span<const std::byte>)>& take) {
  require_same_boxes(owners);
  std::map<int, BoxBytes> by_rank;
  for (std::size_t l = 0; l < owners.from.size(); ++l) {
    const auto [begin, end] = owners.from[l]->owned(comm.rank());
    for (std::int64_t b = begin; b < end; ++b) {
      const BoxBytes bytes = bytes_of(static_cast<int>(l), static_cast<int>(b - begin));
      BoxBytes& message = by_rank[owners.to[l]->owner(b)];
      pack<std::int64_t>(message, Head{static_cast<std::int64_t>(l), b, std::ssize(bytes)});
      pack<std::byte>(message, bytes);
    }
  }
  std::vector<Message> out;
  for (auto& [rank, bytes] : by_rank) out.push_back({rank, std::move(bytes)});
  const std::vector<Message> in = comm.sparse_exchange(std::move(out));
  // Boxes come in the order of their places from each rank, and levels are cut into intervals by rank.
  std::map<std::pair<std::int64_t, std::int64_t>, std::span<const std::byte>> boxes;
  for (const Message& message : in)
    for (std::span<const std::byte> left = message.bytes; !left.empty();) {
      Head head{};
      unpack<std::int64_t>(left, head);
      boxes[{head[0], head[1]}] = left.first(head[2]);
      left = left.subspan(head[2]);
    }
  fail_together(comm, [&] {
    for (const auto& [place, bytes] : boxes) {
      const auto level = static_cast<int>(place.first);
      take(level, static_cast<int>(place.second - owners.to[level]->owned(comm.rank()).first), bytes);
    }
  });
}

}  // namespace karst
