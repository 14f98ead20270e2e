// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/slabs.hpp"

#include <cassert>

namespace karst {
namespace {

/// Whole planes in a message: their number, then their bytes.
struct PlanesHead {
  int first, last;
};

Message planes_message(int rank, const PlanesHead& head, std::span<const std::byte> planes) {
  std::vector<std::byte> bytes(sizeof head + planes.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy(planes.begin(), planes.end(), bytes.begin() + sizeof head);
  return {rank, std::move(bytes)};
}

PlanesHead head_of(const Message& message) {
  PlanesHead head{};
  std::memcpy(&head, message.bytes.data(), sizeof head);
  return head;
}

}  // namespace

int SlabExchange::rank_of(int plane) const {
  int rank = static_cast<int>(std::int64_t{plane} * comm_.size() / voxels_[2]);
  while (slab_begin(voxels_, rank + 1, comm_.size()) <= plane) ++rank;
  assert(slab_begin(voxels_, rank, comm_.size()) <= plane);
  return rank;
}

void SlabExchange::fetch(std::span<const std::byte> slab, const ImageWindow& window, std::span<std::byte> into) const {
  assert(window.first >= 0 && window.last <= voxels_[2] && into.size() == plane_bytes_ * std::size_t(window.planes()));
  std::vector<Message> asked;
  for (int z = window.first; z < window.last;) {
    const int rank = rank_of(z), last = std::min(window.last, slab_begin(voxels_, rank + 1, comm_.size()));
    if (rank == comm_.rank()) {
      std::copy_n(slab.begin() + std::ptrdiff_t(plane_bytes_) * (z - own().first), plane_bytes_ * std::size_t(last - z),
                  into.begin() + std::ptrdiff_t(plane_bytes_) * (z - window.first));
    } else {
      asked.push_back(planes_message(rank, {z, last}, {}));
    }
    z = last;
  }
  if (comm_.size() == 1) return;
  std::vector<Message> answers;
  for (const Message& m : comm_.sparse_exchange(asked)) {
    const PlanesHead head = head_of(m);
    answers.push_back(planes_message(m.rank, head,
                                     slab.subspan(plane_bytes_ * std::size_t(head.first - own().first),
                                                  plane_bytes_ * std::size_t(head.last - head.first))));
  }
  for (const Message& m : comm_.sparse_exchange(answers))
    std::copy(m.bytes.begin() + sizeof(PlanesHead), m.bytes.end(),
              into.begin() + std::ptrdiff_t(plane_bytes_) * (head_of(m).first - window.first));
}

void SlabExchange::store(std::span<std::byte> slab, const ImageWindow& window, std::span<const std::byte> from) const {
  assert(window.first >= 0 && window.last <= voxels_[2] && from.size() == plane_bytes_ * std::size_t(window.planes()));
  std::vector<Message> out;
  for (int z = window.first; z < window.last;) {
    const int rank = rank_of(z), last = std::min(window.last, slab_begin(voxels_, rank + 1, comm_.size()));
    const auto planes =
        from.subspan(plane_bytes_ * std::size_t(z - window.first), plane_bytes_ * std::size_t(last - z));
    if (rank == comm_.rank()) {
      std::copy(planes.begin(), planes.end(), slab.begin() + std::ptrdiff_t(plane_bytes_) * (z - own().first));
    } else {
      out.push_back(planes_message(rank, {z, last}, planes));
    }
    z = last;
  }
  if (comm_.size() == 1) return;
  for (const Message& m : comm_.sparse_exchange(out))
    std::copy(m.bytes.begin() + sizeof(PlanesHead), m.bytes.end(),
              slab.begin() + std::ptrdiff_t(plane_bytes_) * (head_of(m).first - own().first));
}

}  // namespace karst
