// SPDX-License-Identifier: BSD-3-Clause
// An image spread over the ranks: each holds a contiguous slab of z-planes. Work that needs other planes fetches them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

/// First plane of the slab of a rank among `ranks`; slabs differ by one plane at most, and may be empty.
inline int slab_begin(const Index& voxels, int rank, int ranks) {
  return static_cast<int>(std::int64_t{voxels[2]} * rank / ranks);
}

/// Moves bytes of whole planes between slabs and windows. Collective, both.
class SlabExchange {
 public:
  SlabExchange(const Comm& comm, const Index& voxels, std::size_t bytes_per_voxel)
      : comm_(comm), voxels_(voxels), plane_bytes_(bytes_per_voxel * voxels[0] * voxels[1]) {}
  ImageWindow own() const {
    return {voxels_, slab_begin(voxels_, comm_.rank(), comm_.size()),
            slab_begin(voxels_, comm_.rank() + 1, comm_.size())};
  }
  /// Copies the planes of the window, any part of the image and another one on each rank, from the slabs that hold
  /// them.
  void fetch(std::span<const std::byte> slab, const ImageWindow& window, std::span<std::byte> into) const;
  /// Copies the planes of the window into the slabs that hold them; the windows of the ranks must not overlap.
  void store(std::span<std::byte> slab, const ImageWindow& window, std::span<const std::byte> from) const;

 private:
  int rank_of(int plane) const;

  Comm comm_;
  Index voxels_;
  std::size_t plane_bytes_;
};

/// One value per voxel; 0 at first.
template <class T>
class Slabs {
 public:
  Slabs(const Comm& comm, const Index& voxels, Purpose purpose)
      : exchange_(comm, voxels, sizeof(T)), own_(exchange_.own()), values_(own_.count(), purpose, T{}) {}
  const Index& voxels() const { return own_.image; }
  /// The planes of this rank; first == last when it has none.
  const ImageWindow& own() const { return own_; }
  std::span<T> values() { return values_.span(); }
  std::span<const T> values() const { return values_.span(); }
  /// A plane of own(), [ny][nx].
  std::span<T> plane(int z) { return values_.span().subspan(offset(z), plane_voxels()); }
  std::span<const T> plane(int z) const { return values_.span().subspan(offset(z), plane_voxels()); }
  /// The planes of a window, which may be another one on each rank, and empty. Collective.
  Array<T> fetch(const ImageWindow& window) const {
    Array<T> values(window.count(), Purpose::buffers);
    exchange_.fetch(std::as_bytes(values_.span()), window, std::as_writable_bytes(values.span()));
    return values;
  }
  /// Puts the values of a window where they belong; the windows of the ranks must not overlap. Collective.
  void store(const ImageWindow& window, std::span<const T> values) {
    exchange_.store(std::as_writable_bytes(values_.span()), window, std::as_bytes(values));
  }

 private:
  std::size_t plane_voxels() const { return own_.plane(); }
  std::size_t offset(int z) const { return own_.start_of(z); }

  SlabExchange exchange_;
  ImageWindow own_;
  Array<T> values_;
};

}  // namespace karst
