// SPDX-License-Identifier: BSD-3-Clause
// Small images as slabs and back.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "geometry_import/voxels/slabs.hpp"

namespace karst::test {

/// An image all ranks know, spread. Collective.
template <class T>
Slabs<T> label_slabs(const Comm& comm, const Index& size, const std::vector<T>& values) {
  Slabs<T> slabs(comm, size, Purpose::fields);
  std::copy_n(values.begin() + slabs.own().plane() * slabs.own().first, slabs.values().size(), slabs.values().begin());
  return slabs;
}

/// The whole image on every rank. Collective.
template <class T>
std::vector<T> whole(const Comm& comm, const Slabs<T>& slabs) {
  return comm.all_gather(slabs.values());
}

/// f(voxel) of every voxel, x fastest.
template <class T, class F>
std::vector<T> image_of(const Index& size, F&& f) {
  std::vector<T> values;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) values.push_back(static_cast<T>(f(Index{x, y, z})));
  return values;
}

/// Exact distances of a body in 1/64 voxel: f > 0 is the pore.
template <class F>
std::vector<std::uint16_t> distance_image(const Index& size, F&& f) {
  return image_of<std::uint16_t>(size, [&](const Index& x) {
    const double d = f(Vec3{x[0] + 0.5, x[1] + 0.5, x[2] + 0.5});
    return d > 0 ? std::max(1L, std::lround(64 * d)) : 0L;
  });
}

}  // namespace karst::test
