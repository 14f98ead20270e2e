// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/slabs.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace karst::slabs_test {
namespace {

std::uint16_t value(const Index& n, int x, int y, int z) {
  return static_cast<std::uint16_t>((z * n[1] + y) * n[0] + x + 1);
}

Slabs<std::uint16_t> numbered(const Index& n) {
  Slabs<std::uint16_t> slabs(Comm::world(), n, Purpose::buffers);
  const ImageWindow own = slabs.own();
  for (int z = own.first; z < own.last; ++z) std::iota(slabs.plane(z).begin(), slabs.plane(z).end(), value(n, 0, 0, z));
  return slabs;
}

void expect_planes(const ImageWindow& window, std::span<const std::uint16_t> values) {
  ASSERT_EQ(values.size(), window.count());
  std::size_t i = 0, wrong = 0;
  for (int z = window.first; z < window.last; ++z)
    for (int y = 0; y < window.image[1]; ++y)
      for (int x = 0; x < window.image[0]; ++x) wrong += values[i++] != value(window.image, x, y, z);
  EXPECT_EQ(wrong, 0u) << "planes " << window.first << " to " << window.last;
}

// Every plane lies on one rank, in their order; the numbers of planes differ by one at most.
TEST(Slabs, ShareThePlanes) {
  for (const int ranks : {1, 2, 3, 4, 7, 64})
    for (const int nz : {1, 2, 5, 63, 64, 1000}) {
      const Index n{3, 2, nz};
      EXPECT_EQ(slab_begin(n, 0, ranks), 0);
      EXPECT_EQ(slab_begin(n, ranks, ranks), nz);
      for (int r = 0; r < ranks; ++r) {
        const int planes = slab_begin(n, r + 1, ranks) - slab_begin(n, r, ranks);
        EXPECT_TRUE(planes == nz / ranks || planes == (nz + ranks - 1) / ranks) << nz << " on " << ranks;
      }
    }
  EXPECT_EQ(slab_begin({1, 1, 2000000000}, 3, 4), 1500000000) << "more than 32 bits on the way";
}

TEST(Slabs, ValuesAreZeroAtFirstMpi) {
  const Slabs<std::uint16_t> slabs(Comm::world(), {4, 3, 6}, Purpose::buffers);
  for (const std::uint16_t v : slabs.values()) EXPECT_EQ(v, 0);
}

// Each rank asks for other planes: its own with those around, all, none, one far away; also where ranks hold none.
TEST(Slabs, FetchAnyPlanesMpi) {
  const Comm comm = Comm::world();
  for (const int nz : {1, 3, 11}) {
    const Index n{5, 3, nz};
    const Slabs<std::uint16_t> slabs = numbered(n);
    const ImageWindow all{n, 0, nz}, own = slabs.own();
    for (const int grown : {0, 1, 4, 20}) {
      const ImageWindow window = own.grown(grown);
      expect_planes(window, slabs.fetch(window).span());
    }
    expect_planes(all, slabs.fetch(all).span());
    const int far = (own.first + nz / 2) % nz;
    expect_planes({n, far, far + 1}, slabs.fetch({n, far, far + 1}).span());
    const ImageWindow some = comm.rank() == 0 ? all : ImageWindow{n, nz, nz};
    expect_planes(some, slabs.fetch(some).span());
  }
}

// Layers dealt round robin, as the import cuts them, come together to the image.
TEST(Slabs, StoreMpi) {
  const Comm comm = Comm::world();
  const Index n{4, 5, 13};
  const Slabs<std::uint16_t> truth = numbered(n);
  Slabs<std::uint16_t> slabs(comm, n, Purpose::buffers);
  const int thickness = 2, layers = 7;
  for (int first = 0; first < layers; first += comm.size()) {
    const int layer = std::min(first + comm.rank(), layers);
    const ImageWindow window{n, std::min(n[2], layer * thickness), std::min(n[2], (layer + 1) * thickness)};
    std::vector<std::uint16_t> values(window.count());
    if (!values.empty()) std::iota(values.begin(), values.end(), value(n, 0, 0, window.first));
    slabs.store(window, values);
  }
  EXPECT_TRUE(std::equal(slabs.values().begin(), slabs.values().end(), truth.values().begin()));
}

// What a rank stores where it holds the planes itself stays here; what is fetched is a copy.
TEST(Slabs, FetchedIsACopyMpi) {
  const Index n{2, 2, 8};
  Slabs<std::uint16_t> slabs = numbered(n);
  Array<std::uint16_t> copy = slabs.fetch(slabs.own());
  for (std::uint16_t& v : copy) v = 9;
  expect_planes(slabs.own(), slabs.values());
  slabs.store(slabs.own(), copy.span());
  for (const std::uint16_t v : slabs.values()) EXPECT_EQ(v, 9);
}

}  // namespace
}  // namespace karst::slabs_test
