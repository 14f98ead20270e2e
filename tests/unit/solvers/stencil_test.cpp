// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/stencil.hpp"

#include <gtest/gtest.h>

namespace karst::stencil_test {
namespace {

// Few and many unknowns (the table grows), each several times, in any order: the same bits as those of merge().
TEST(Stencil, SumsOfTermsAreThoseOfMerging) {
  TermSum sum;
  for (const int n_unknowns : {1, 7, 100, 1000}) {
    Stencil merged;
    std::uint64_t state = 1;
    for (int i = 0; i < 5 * n_unknowns; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const auto unknown = static_cast<GlobalNumber>((state >> 33) % n_unknowns * 1000003);
      const double weight = 1.0 / (1.0 + static_cast<double>(state >> 40)) - 1e-6;
      merged.add(unknown, weight);
      sum.add(unknown, weight);
    }
    merged.merge();
    ASSERT_EQ(sum.size(), merged.terms.size());
    std::vector<StencilTerm> terms(sum.size());
    sum.move_to(terms.data());
    EXPECT_EQ(sum.size(), 0U);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      EXPECT_EQ(terms[k].unknown, merged.terms[k].unknown);
      EXPECT_EQ(terms[k].weight, merged.terms[k].weight);
    }
  }
}

}  // namespace
}  // namespace karst::stencil_test
