// SPDX-License-Identifier: BSD-3-Clause
// Which boxes a grid of limited size gets, in the open, on 32 x 16 x 16 cells with boxes of 8: a box of level 1 covers
// 4 x 4 x 4 cells and adds 512 - 64 unknowns to the 8192 of level 0, one of level 2 the same.
#include "grid/asked_boxes.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "grid/morton.hpp"

namespace karst::asked_boxes_test {
namespace {

constexpr std::int64_t of_base = 8192, of_box = 448;
using Keys = std::vector<std::uint64_t>;

struct Asked {
  Index position;
  double strength;
};

struct Open {
  /// Boxes that this rank asks for, of one level each.
  AskedBoxes ask(const std::vector<Asked>& coarse, const std::vector<Asked>& fine = {}) const {
    AskedBoxes boxes(2);
    for (const Asked& a : coarse) boxes[0].push_back({morton_encode(a.position), a.strength});
    for (const Asked& a : fine) boxes[1].push_back({morton_encode(a.position), a.strength});
    for (std::vector<AskedBox>& of_level : boxes) sort_unique(of_level);
    return gather(comm, std::move(boxes));
  }
  /// With room for so many boxes.
  LimitedBoxes limited(const AskedBoxes& asked, int room, const FlaggedBoxes& now = {},
                       const BaseGrid& base = {of_base, {}}) const {
    return within_limit(comm, layout, fluid, base, asked, now, of_base + room * of_box);
  }
  static Keys keys(const std::vector<Index>& positions) {
    Keys all;
    for (const Index& p : positions) all.push_back(morton_encode(p));
    std::ranges::sort(all);
    return all;
  }
  Comm comm = Comm::world();
  static std::vector<std::uint16_t> fluid(int) {  // every cell
    std::vector<std::uint16_t> cells(512);
    std::iota(cells.begin(), cells.end(), std::uint16_t{0});
    return cells;
  }
  Layout layout =
      build_layout(comm, Domain{{32, 16, 16}, {false, false, false}}, 8, [](const Box&) { return 1.0; }).layout;
};

// Boxes are as strong as the strongest that asks for them, on any rank, and as those that they hold.
TEST(AskedBoxesMpi, TheStrongestCounts) {
  const Open open;
  const double mine = 1.0 + open.comm.rank();
  const AskedBoxes all = open.ask({{{1, 1, 1}, mine}, {{1, 1, 1}, 0.5}}, {{{6, 1, 1}, 9.0}});
  ASSERT_EQ(all[0].size(), 2U);
  for (const AskedBox& box : all[0])
    EXPECT_EQ(box.strength, box.key == morton_encode({1, 1, 1}) ? open.comm.size() : 9.0);
}

// The strongest come first, of equal ones the first on the curve, until no more fit; what fits later may be weaker.
TEST(AskedBoxesMpi, TheStrongestThatFit) {
  const Open open;
  const AskedBoxes asked = open.ask({{{0, 0, 0}, 1.0}, {{3, 0, 0}, 3.0}, {{5, 0, 0}, 2.0}, {{7, 0, 0}, 2.0}});
  const auto boxes = [&](int room) { return open.limited(asked, room).boxes[0]; };
  EXPECT_EQ(boxes(0), Keys{});
  EXPECT_EQ(boxes(1), Open::keys({{3, 0, 0}}));
  EXPECT_EQ(boxes(2), Open::keys({{3, 0, 0}, {5, 0, 0}}));
  EXPECT_EQ(boxes(4), keys_of(asked)[0]);
  EXPECT_EQ(open.limited(asked, 3).left_out, 1);
  EXPECT_EQ(open.limited(asked, 4).left_out, 0);
}

// A box that is there gives way to one that is half as strong again, not to one that is a little stronger.
TEST(AskedBoxesMpi, BoxesDoNotTakeTurns) {
  const Open open;
  const FlaggedBoxes now{Open::keys({{0, 0, 0}})};
  EXPECT_EQ(open.limited(open.ask({{{0, 0, 0}, 1.0}, {{3, 0, 0}, 1.4}}), 1, now).boxes[0], now[0]);
  EXPECT_EQ(open.limited(open.ask({{{0, 0, 0}, 1.0}, {{3, 0, 0}, 1.6}}), 1, now).boxes[0], Open::keys({{3, 0, 0}}));
}

// A box of level 2 in the corner of its parent needs the parents of its neighbours, too: 8 of level 1 beside itself.
// What the grid has without them costs nothing.
TEST(AskedBoxesMpi, NestingCounts) {
  const Open open;
  const AskedBoxes asked = open.ask({}, {{{4, 4, 4}, 1.0}});
  const auto found = [&](int room, const BaseGrid& base = {of_base, {}}) {
    return open.limited(asked, room, {}, base).boxes[1].size();
  };
  EXPECT_EQ(found(8), 0U);
  EXPECT_EQ(found(9), 1U);
  const BaseGrid base{of_base, {Open::keys({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {2, 2, 1}})}};
  EXPECT_EQ(found(4, base), 0U);
  EXPECT_EQ(found(5, base), 1U);
}

}  // namespace
}  // namespace karst::asked_boxes_test
