// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/plot_samples.hpp"

namespace karst::plot_parts_test {
namespace {

using Ranks = std::vector<int>;

TEST(PlotParts, Names) {
  EXPECT_EQ(part_name("plot.vtkhdf", 12), "plot.vtkhdf.part12");
  EXPECT_EQ(whole_of("plot.vtkhdf.part12"), "plot.vtkhdf");
  for (const char* name : {"plot.vtkhdf", "plot.part", "a.part1.vtkhdf", "a.part0", "a.part-1", "a.part1x"})
    EXPECT_EQ(whole_of(name), name);
}

// Fewer parts than machines: whole machines share one. More: no part spans two, and ranks go to parts evenly.
TEST(PlotParts, MachinesStayTogether) {
  EXPECT_EQ(parts_of_ranks(Ranks{0, 0, 0, 0}, 1), (Ranks{0, 0, 0, 0}));
  EXPECT_EQ(parts_of_ranks(Ranks{0, 0, 0, 0}, 2), (Ranks{0, 0, 1, 1}));
  EXPECT_EQ(parts_of_ranks(Ranks{0, 0, 2, 2, 4, 4, 6, 6}, 2), (Ranks{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(parts_of_ranks(Ranks{0, 0, 2, 2, 4, 4}, 2), (Ranks{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(parts_of_ranks(Ranks{0, 1, 0, 1, 0, 1}, 2), (Ranks{0, 1, 0, 1, 0, 1}));  // ranks dealt out in turn
  EXPECT_EQ(parts_of_ranks(Ranks{0, 1, 0, 1}, 4), (Ranks{0, 2, 1, 3}));
  EXPECT_EQ(parts_of_ranks(Ranks{0, 1, 1, 1, 1, 1}, 3), (Ranks{0, 1, 1, 1, 2, 2}));
}

bool is_one(const Ranks& values) { return std::ranges::count(values, values[0]) == std::ssize(values); }

TEST(PlotParts, EveryPartHasARankOfOneMachine) {
  const Ranks machines{0, 1, 1, 3, 3, 3, 0, 1, 3, 3};  // 2, 3 and 5 ranks
  for (int n = 1; n <= std::ssize(machines); ++n) {
    const Ranks parts = parts_of_ranks(machines, n);
    std::vector<Ranks> machines_of(n);
    for (std::size_t r = 0; r < parts.size(); ++r) machines_of.at(parts[r]).push_back(machines[r]);
    for (const Ranks& of : machines_of) {
      ASSERT_FALSE(of.empty()) << n << " parts";
      EXPECT_TRUE(n < 3 || is_one(of)) << n << " parts";
    }
    for (const int m : {0, 1, 3}) {  // the ranks of a machine: one part where there are fewer parts than machines
      Ranks of;
      for (std::size_t r = 0; r < parts.size(); ++r)
        if (machines[r] == m) of.push_back(parts[r]);
      EXPECT_TRUE(n > 3 || is_one(of)) << n << " parts";
    }
  }
}

/// The place in the whole of a cell of a part.
std::int64_t place_of(const PartRuns& all, int part, std::int64_t cell) {
  for (const PartRun& r : all.runs)
    if (r.part == part && r.from <= cell && cell < r.from + r.cells) return r.to + cell - r.from;
  return -1;
}

/// First cell of the i-th own box in a file.
std::int64_t first_cell(const PlotOrder& order, std::int64_t i) {
  for (const SizeClass& c : order.classes())
    if (order.position(i) >= c.first_box && order.position(i) < c.first_box + c.n_boxes)
      return c.first_cell + (order.position(i) - c.first_box) * c.box_cells;
  return -1;
}

// Each box of each rank comes from its place in the part to its place in the whole, boxes of all sizes, ranks of a part
// side by side or not, ranks without boxes.
TEST(PlotParts, RunsTellWhereBoxesBelong) {
  const Layout one = build_layout(Comm::self(), {{37, 22, 19}, {}}, 8, [](const Box& box) {
                       return box.lo[0] == 16 ? 0.0 : 1.0;
                     }).layout;
  const std::int64_t n = one.n_boxes();
  const Layout layout(one.domain(), 8, one.keys(), {0, n / 3, n / 3, n / 2, n});
  for (const Ranks& of_ranks : {Ranks{0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2, 0, 1}, {0, 0, 0, 0}, {0, 1, 2, 3}}) {
    const PartRuns all = part_runs(layout, of_ranks);
    std::int64_t cells = 0;
    for (const PartRun& r : all.runs) cells += r.cells;
    EXPECT_EQ(cells, PlotOrder(layout, 0).n_cells());
    for (int rank = 0; rank < 4; ++rank) {
      Ranks ranks;
      for (int r = 0; r < 4; ++r)
        if (of_ranks[r] == of_ranks[rank]) ranks.push_back(r);
      const PlotOrder part(layout, rank, ranks), whole(layout, rank);
      EXPECT_EQ(part.n_cells(), all.cells[of_ranks[rank]]);
      ASSERT_EQ(part.own(), whole.own());
      for (std::int64_t i = 0; i < std::ssize(part.own()); ++i)
        ASSERT_EQ(place_of(all, of_ranks[rank], first_cell(part, i)), first_cell(whole, i)) << "rank " << rank;
    }
  }
  EXPECT_EQ(std::ssize(part_runs(layout, Ranks{0, 0, 0, 0}).runs), 1);
}

}  // namespace
}  // namespace karst::plot_parts_test
