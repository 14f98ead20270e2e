// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/flow_basis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace karst::flow_basis_test {
namespace {

/// Numbers of one block whose components differ by powers of ten; 0 beyond the end.
FlowBasis::Work block_of(const FlowBasis& basis, std::int64_t b, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  FlowBasis::Work w{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(basis.size(b)); ++i)
    w[i] = value(random) * std::pow(10.0F, -2.0F * static_cast<float>(i % 4));
  return w;
}

// Of a long basis the first vectors are kept as they are; in 16 bits, as all of a short one are, every number is off by
// half a step at most, a step being the largest number of its component in the block over 32767. What is kept is what
// comes back.
void keeps_vectors(int n_vectors, int n_single) {
  FlowBasis basis(FlowBasis::block + 100, n_vectors);
  basis.make_room(FlowBasis::n_single + 2);
  ASSERT_EQ(basis.n_blocks(), 2);
  EXPECT_EQ(basis.size(1), 400);
  for (const int i : {0, FlowBasis::n_single, FlowBasis::n_single + 1})
    for (std::int64_t b = 0; b < 2; ++b) {
      const FlowBasis::Work given = block_of(basis, b, static_cast<unsigned>(7 * i + b));
      FlowBasis::Work kept = given, back{};
      basis.keep(i, b, kept);
      basis.add(i, b, 1.0, back);
      const float steps = i < n_single ? INFINITY : 32767.0F;
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const float largest = std::pow(10.0F, -2.0F * static_cast<float>(k % 4));
        EXPECT_LE(std::abs(kept[k] - given[k]), 0.501F * largest / steps) << i << ' ' << k;
        EXPECT_EQ(back[k], kept[k]);
      }
    }
}
TEST(FlowBasis, KeepsVectors) {
  keeps_vectors(FlowBasis::short_basis, 0);
  keeps_vectors(FlowBasis::short_basis + 1, FlowBasis::n_single);
}

// <v, v> of what is kept, to single precision; vectors do not touch each other.
TEST(FlowBasis, MultipliesVectors) {
  FlowBasis basis(300, FlowBasis::n_single + 3);
  basis.make_room(FlowBasis::n_single + 3);
  const int last = FlowBasis::n_single + 2;
  FlowBasis::Work v = block_of(basis, 0, 1), other = block_of(basis, 0, 2);
  basis.keep(last, 0, v);
  basis.keep(last - 1, 0, other);
  double square = 0.0, product = 0.0;
  for (std::size_t k = 0; k < v.size(); ++k) {
    square += double{v[k]} * double{v[k]};
    product += double{v[k]} * double{other[k]};
  }
  EXPECT_NEAR(basis.dot(last, 0, v), square, 1e-6 * square);
  EXPECT_NEAR(basis.dot(last - 1, 0, v), product, 1e-6 * square);
}

TEST(FlowBasis, KeepsNothingOfZero) {
  FlowBasis basis(10, FlowBasis::n_single + 1);
  basis.make_room(FlowBasis::n_single + 1);
  FlowBasis::Work zero{};
  basis.keep(FlowBasis::n_single, 0, zero);
  FlowBasis::Work w{};
  basis.add(FlowBasis::n_single, 0, 1.0, w);
  EXPECT_EQ(w, FlowBasis::Work{});
  EXPECT_EQ(zero, FlowBasis::Work{});
}

}  // namespace
}  // namespace karst::flow_basis_test
