// SPDX-License-Identifier: BSD-3-Clause
// Pieces of wall around points, against all of them in turn.
#include "eb/moving/near_pieces.hpp"

#include <gtest/gtest.h>

#include <random>

namespace karst::near_pieces_test {
namespace {

double weights_of_all(const Domain& domain, const std::vector<NearPiece>& pieces, const Vec3& x, double reach) {
  double sum = 0.0;
  for (const NearPiece& p : pieces) {
    Vec3 r = p.at - x;
    for (int d = 0; d < 3; ++d)
      if (domain.periodic[d]) r[d] -= domain.cells[d] * std::round(r[d] / domain.cells[d]);
    const double part = 1.0 - dot(r, r) / (reach * reach);
    if (part > 0.0) sum += p.area * part * part;
  }
  return sum;
}

// Also where the domain is thinner than the reach, periodic or not, and for points at and beyond its sides.
TEST(NearPieces, AreThoseOfASearchThroughAll) {
  std::mt19937 random(4);
  for (const Index& cells : {Index{12, 9, 7}, Index{16, 5, 2}, Index{3, 4, 1}})
    for (const std::array<bool, 3>& periodic :
         {std::array{false, false, false}, std::array{true, true, true}, std::array{false, true, true}}) {
      const Domain domain{cells, periodic};
      const auto place = [&](double beyond) {
        Vec3 x;
        for (int d = 0; d < 3; ++d) x[d] = std::uniform_real_distribution(-beyond, cells[d] + beyond)(random);
        return x;
      };
      std::vector<NearPiece> pieces;
      for (int i = 0; i < 60; ++i) pieces.push_back({place(0.2), std::uniform_real_distribution(0.1, 1.0)(random)});
      const NearPieces near(domain, pieces);
      for (int i = 0; i < 200; ++i) {
        const Vec3 x = place(i % 2 == 0 ? 0.0 : 0.4);
        for (const double reach : {1.75, 2.5, 4.5}) {
          double all = 0.0;
          for (int d = 0; d < 3; ++d)  // one image is near enough
            if (periodic[d] && cells[d] < 2.0 * reach) all = -1.0;
          if (all < 0.0 && reach > 2.0) continue;
          EXPECT_NEAR(near.around(x, reach, [](std::size_t, double) {}), weights_of_all(domain, pieces, x, reach),
                      1e-12);
        }
      }
    }
}

}  // namespace
}  // namespace karst::near_pieces_test
