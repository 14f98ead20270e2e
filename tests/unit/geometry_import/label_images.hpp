// SPDX-License-Identifier: BSD-3-Clause
// Label images for tests, whole and in slabs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst {

/// A whole image, [nz][ny][nx].
struct LabelImage {
  Index voxels;
  std::vector<std::uint8_t> values;

  LabelImage(const Index& n, std::uint8_t label)
      : voxels(n), values(std::size_t(n[0]) * std::size_t(n[1]) * std::size_t(n[2]), label) {}
  std::size_t at(int x, int y, int z) const {
    return (std::size_t(z) * std::size_t(voxels[1]) + std::size_t(y)) * std::size_t(voxels[0]) + std::size_t(x);
  }
  std::uint8_t& operator()(int x, int y, int z) { return values[at(x, y, z)]; }
};

/// Every voxel by itself: `label` with probability p, else `other`.
inline LabelImage random_labels(const Index& n, double p, std::uint8_t label, std::uint8_t other, std::uint64_t seed) {
  const RandomNumbers random(seed, 0);
  LabelImage image(n, other);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    if (random.uniform(i) < p) image.values[i] = label;
  return image;
}

inline Slabs<std::uint8_t> in_slabs(const Comm& comm, const LabelImage& image) {
  Slabs<std::uint8_t> slabs(comm, image.voxels, Purpose::buffers);
  for (int z = slabs.own().first; z < slabs.own().last; ++z)
    std::copy_n(image.values.begin() + std::ptrdiff_t(image.at(0, 0, z)), slabs.own().plane(), slabs.plane(z).begin());
  return slabs;
}

/// The whole image again, on every rank. Collective.
inline std::vector<std::uint8_t> whole(const Comm& comm, const Slabs<std::uint8_t>& slabs) {
  return comm.all_gather(slabs.values());
}

}  // namespace karst
