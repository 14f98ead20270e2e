// SPDX-License-Identifier: BSD-3-Clause
#include "grid/morton.hpp"

#include <gtest/gtest.h>

#include "grid/box.hpp"
#include "unit/grid/model.hpp"

namespace karst::morton_test {
namespace {

static_assert(morton_encode({1, 0, 0}) == 1 && morton_encode({0, 1, 0}) == 2 && morton_encode({0, 0, 1}) == 4);
static_assert(morton_encode({morton_max, morton_max, morton_max}) == (std::uint64_t{1} << 63) - 1);

TEST(Morton, RoundTrip) {
  for (int n = 0; n < 10000; ++n) {
    const auto coordinate = [n](int d) { return static_cast<int>(test::mixed({n, d}) & morton_max); };
    const Index p{coordinate(0), coordinate(1), coordinate(2)};
    EXPECT_EQ(morton_decode(morton_encode(p)), p);
  }
  for (const int far : {0, 1, morton_max - 1, morton_max})
    EXPECT_EQ(morton_decode(morton_encode({far, morton_max - far, far})), (Index{far, morton_max - far, far}));
}

// The eight octants of a cube follow each other: keys of a 2^n cube are the numbers 0 .. 8^n - 1.
TEST(Morton, KeysOfACubeAreConsecutive) {
  std::vector<bool> seen(4096, false);
  for_each_cell({Index{}, Index::all(16)}, [&](const Index& p) {
    const auto key = morton_encode(p);
    ASSERT_LT(key, seen.size());
    EXPECT_FALSE(seen[key]);
    seen[key] = true;
    EXPECT_EQ(key >> 3, morton_encode({p[0] / 2, p[1] / 2, p[2] / 2}));
  });
}

}  // namespace
}  // namespace karst::morton_test
