// SPDX-License-Identifier: BSD-3-Clause
#include "grid/layout.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "grid/layout_builder.hpp"
#include "grid/morton.hpp"
#include "unit/grid/model.hpp"

namespace karst::layout_test {
namespace {

double any_fluid(const Box&) { return 1.0; }

/// A ball of radius 20 around (30, 30, 5): the box's distance to its centre decides.
double ball(const Box& box) {
  double squared = 0;
  const Index centre{30, 30, 5};
  for (int d = 0; d < 3; ++d) {
    const double off = std::max({box.lo[d] - centre[d], centre[d] - (box.hi[d] - 1), 0});
    squared += off * off;
  }
  return squared < 400 ? static_cast<double>(1 + box.lo[0]) : 0.0;
}

// Every cell of the domain is in exactly one box of a full layout, and find_cell knows it.
TEST(LayoutMpi, BoxesTileTheDomain) {
  const Comm comm = Comm::world();
  for (const Index cells : {Index{64, 64, 64}, Index{33, 17, 1}, Index{1, 1, 1}, Index{100, 9, 8}}) {
    const BuiltLayout built = build_layout(comm, {cells, {}}, 8, any_fluid);
    EXPECT_EQ(built.kept, built.candidates);
    std::int64_t n = 0;
    for (std::int64_t b = 0; b < built.layout.n_boxes(); ++b) {
      const Box box = built.layout.box(b);
      n += box.count();
      EXPECT_EQ(built.layout.find_cell(box.lo), b);
      EXPECT_EQ(built.layout.find_cell(box.hi - Index::all(1)), b);
      EXPECT_EQ(built.layout.find(built.layout.lattice_position(b)), b);
    }
    EXPECT_EQ(n, (Box{Index{}, cells}.count()));
  }
}

// The boxes do not depend on the number of ranks: equal to the layout one rank builds alone.
TEST(LayoutMpi, SameBoxesOnAnyNumberOfRanks) {
  const Comm comm = Comm::world();
  const Domain domain{{70, 70, 20}, {true, false, false}};
  const BuiltLayout here = build_layout(comm, domain, 8, ball), alone = build_layout(Comm::self(), domain, 8, ball);
  EXPECT_EQ(here.layout.keys(), alone.layout.keys());
  EXPECT_EQ(here.candidates, 9 * 9 * 3);
  EXPECT_EQ(here.kept, here.layout.n_boxes());
  EXPECT_LT(here.kept, here.candidates);
  EXPECT_EQ(here.layout.n_ranks(), comm.size());
  for (int r = 0; r < comm.size(); ++r) {
    const auto [first, last] = here.layout.owned(r);
    for (std::int64_t b = first; b < last; ++b) EXPECT_EQ(here.layout.owner(b), r);
  }
}

TEST(LayoutMpi, PeriodicDirectionsWrap) {
  const BuiltLayout built = build_layout(Comm::world(), {{20, 20, 20}, {true, false, false}}, 8, any_fluid);
  const Layout& layout = built.layout;
  EXPECT_EQ(layout.find_cell({-1, 3, 3}), layout.find_cell({19, 3, 3}));
  EXPECT_EQ(layout.find_cell({20 * 7 + 2, 3, 3}), layout.find_cell({2, 3, 3}));
  EXPECT_EQ(layout.find({-1, 0, 0}), layout.find({2, 0, 0}));
  EXPECT_EQ(layout.find({0, -1, 0}), -1);
  EXPECT_EQ(layout.find_cell({3, 20, 3}), -1);
}

TEST(LayoutMpi, NoFluidGivesAnEmptyLayout) {
  const BuiltLayout built = build_layout(Comm::world(), {{64, 64, 64}, {}}, 16, [](const Box&) { return 0.0; });
  EXPECT_EQ(built.kept, 0);
  EXPECT_EQ(built.layout.n_boxes(), 0);
  EXPECT_EQ(built.layout.find({0, 0, 0}), -1);
}

TEST(LayoutMpi, OnlyGivenCandidatesAreAsked) {
  const std::vector<std::uint64_t> keys{morton_encode({1, 0, 0}), morton_encode({3, 1, 0}), morton_encode({2, 2, 2})};
  const BuiltLayout built = build_layout(Comm::world(), {{64, 64, 64}, {}}, 8, keys, any_fluid);
  EXPECT_EQ(built.layout.keys(), keys);
  EXPECT_EQ(built.candidates, 3);
}

TEST(Layout, CoarseningKeepsNamesAndOwners) {
  Layout layout = build_layout(Comm::self(), {{70, 33, 20}, {true, false, false}}, 8, ball).layout;
  for (int size = 4; size >= 1; size /= 2) {
    const Layout coarse = coarsened(layout);
    EXPECT_EQ(coarse.box_size(), size);
    EXPECT_EQ(coarse.keys(), layout.keys());
    EXPECT_EQ(coarse.owned(0), layout.owned(0));
    for (std::int64_t b = 0; b < coarse.n_boxes(); ++b)
      for (int d = 0; d < 3; ++d) {
        EXPECT_EQ(coarse.box(b).lo[d], layout.box(b).lo[d] / 2);
        EXPECT_EQ(coarse.box(b).hi[d], (layout.box(b).hi[d] + 1) / 2);
      }
    layout = coarse;
  }
  EXPECT_THROW(coarsened(layout), Error);  // boxes of one cell
}

TEST(Layout, BoxSizesNotAllowedAreNamed) {
  for (const int size : {0, -8, 1, 7, 12, 64})
    EXPECT_THROW(build_layout(Comm::self(), {{64, 64, 64}, {}}, size, any_fluid), Error) << size;
  EXPECT_THROW(build_layout(Comm::self(), {{64, 0, 64}, {}}, 8, any_fluid), Error);
}

// Domains far from cubic: all keys of the lattice, sorted, in any slicing.
TEST(Layout, LatticeKeysInMortonOrder) {
  for (const Index size : {Index{1, 1, 1}, Index{5, 3, 2}, Index{1000, 1, 2}, Index{1, 37, 1}}) {
    std::vector<std::uint64_t> all;
    for_each_cell({Index{}, size}, [&](const Index& p) { all.push_back(morton_encode(p)); });
    std::sort(all.begin(), all.end());
    std::vector<std::uint64_t> sliced;
    const auto n = static_cast<std::int64_t>(all.size());
    for (int part = 0; part < 7; ++part) {
      const auto keys = lattice_keys(size, n * part / 7, n * (part + 1) / 7);
      EXPECT_EQ(std::ssize(keys), n * (part + 1) / 7 - n * part / 7);
      sliced.insert(sliced.end(), keys.begin(), keys.end());
    }
    EXPECT_EQ(sliced, all);
  }
}

}  // namespace
}  // namespace karst::layout_test
