// SPDX-License-Identifier: BSD-3-Clause
#include "grid/box_costs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/core/error.hpp"
#include "grid/layout_builder.hpp"

namespace karst::box_costs_test {
namespace {

constexpr int n_boxes = 512;  // 8 in each direction

/// Work of this rank: a unit of cells in every box, one of chemistry in each of the first quarter.
std::vector<BoxWork> work_of(const Comm& comm, const Layout& layout, double per_cell, double per_reaction,
                             double slowness) {
  const auto [first, last] = layout.owned(comm.rank());
  std::vector<BoxWork> kinds(2);
  std::vector<double> cells, reactions;
  for (std::int64_t b = first; b < last; ++b) {
    cells.push_back(1.0);
    reactions.push_back(b < n_boxes / 4 ? 3.0 : 0.0);
    kinds[0].seconds += slowness * per_cell;
    kinds[1].seconds += slowness * per_reaction * reactions.back();
  }
  kinds[0].amount = {cells};
  kinds[1].amount = {reactions};
  return kinds;
}

/// The last rank at half speed, and reactions in some boxes alone: after one look the costs are those that were put in,
/// boxes dealt out by them take all ranks equally long, and a second look finds the same.
TEST(BoxCostsMpi, CostsOfKindsAndSlowRanksAreToldApart) {
  const Comm comm = Comm::world();
  const Domain domain{{64, 64, 64}, {}};
  const auto all = [](const Box&) { return 1.0; };
  BuiltLayout built = build_layout(comm, domain, 8, all);
  const double slow = comm.size() > 1 && comm.rank() == comm.size() - 1 ? 2.0 : 1.0;
  for (int look = 0; look < 2; ++look) {
    const std::vector<BoxWork> kinds = work_of(comm, built.layout, 1e-3, 5e-3, slow);
    const Layout* const layout = &built.layout;
    RankWork work;
    add_steps(work, kinds, 1, 0.0);
    const BoxCosts costs = measured_costs(comm, std::span(&layout, 1), kinds, work);
    ASSERT_EQ(costs.cost[0].size(), n_boxes);
    // Σ 1 / s is the number of ranks: a usual rank is faster than 1 where one is slow.
    const double usual = (comm.size() - (comm.size() > 1 ? 0.5 : 0.0)) / comm.size();
    EXPECT_NEAR(costs.slowness[comm.rank()], slow * usual, 1e-4);
    EXPECT_NEAR(costs.cost[0][n_boxes - 1], 1e-3 / usual, 1e-6);
    EXPECT_NEAR(costs.cost[0][0], (1e-3 + 3.0 * 5e-3) / usual, 1e-5);

    built = build_layout(comm, domain, 8, all, costs);
    std::vector<std::int64_t> begin{0};
    for (int r = 0; r < comm.size(); ++r) begin.push_back(built.layout.owned(r).second);
    const std::vector<double> times = rank_times(costs, std::span(&begin, 1));
    double mine = 0.0;
    for (const BoxWork& kind : work_of(comm, built.layout, 1e-3, 5e-3, slow)) mine += kind.seconds;
    EXPECT_NEAR(times[comm.rank()], mine, 1e-3 * mine);
    EXPECT_LT(imbalance_of(times), 1.05);
  }
}

/// Two steps in which the last rank takes three times as long, after six with other boxes: half of these counts.
TEST(BoxCostsMpi, StepsBeforeCountLess) {
  const Comm comm = Comm::world();
  const Domain domain{{64, 64, 64}, {}};
  const auto uneven = [](const Box& box) { return box.lo[0] == 0 ? 9.0 : 1.0; };
  const BuiltLayout before = build_layout(comm, domain, 8, uneven),
                    built = build_layout(comm, domain, 8, [](const Box&) { return 1.0; });
  const auto boxes = [&](const Layout& layout) {
    return static_cast<double>(layout.owned(comm.rank()).second - layout.owned(comm.rank()).first);
  };
  const auto cells = [&](const Layout& layout, double seconds) {
    return BoxWork{{std::vector<double>(static_cast<std::size_t>(boxes(layout)), 1.0)}, seconds};
  };
  const double slow = comm.rank() == comm.size() - 1 ? 3.0 : 1.0, old = 6.0 * boxes(before.layout),
               present = 2.0 * boxes(built.layout);
  const BoxWork then = cells(before.layout, old), now = cells(built.layout, slow * present);
  RankWork work;
  add_steps(work, std::span(&then, 1), 6, 0.0);
  add_steps(work, std::span(&now, 1), 2, 0.5);
  const Layout* const layout = &built.layout;
  const BoxCosts costs = measured_costs(comm, std::span(&layout, 1), std::span(&now, 1), work);
  const double wanted = (0.5 * old + slow * present) / (0.5 * old + present);
  EXPECT_NEAR(costs.slowness[comm.rank()], wanted * comm.sum(1.0 / wanted) / comm.size(), 1e-5);
  EXPECT_NEAR(costs.slowness[comm.rank()] * costs.cost[0][0], wanted, 1e-5);
}

TEST(BoxCostsMpi, BoxesThatAreAllTheSame) {
  const Comm comm = Comm::world();
  const auto uneven = [](const Box& cells) { return cells.lo[0] == 0 ? 100.0 : 1.0; };
  const BuiltLayout built =
      build_layout(comm, {{64, 64, 64}, {}}, 8, uneven, BoxCosts{.equal = true, .cost = {}, .slowness = {}});
  const auto [first, last] = built.layout.owned(comm.rank());
  EXPECT_EQ(last - first, n_boxes / comm.size());
  BoxCosts other;
  other.cost = {{1.0, 2.0}};
  EXPECT_THROW(build_layout(comm, {{64, 64, 64}, {}}, 8, uneven, other), Error);
}

TEST(BoxCosts, ImbalanceIsTheLongestOverTheMean) {
  EXPECT_EQ(imbalance_of(std::vector<double>{0.0, 0.0}), 1.0);
  EXPECT_NEAR(imbalance_of(std::vector<double>{3.0, 1.0}), 1.5, 1e-15);
}

}  // namespace
}  // namespace karst::box_costs_test
