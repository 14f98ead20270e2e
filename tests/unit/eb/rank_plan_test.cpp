// SPDX-License-Identifier: BSD-3-Clause
#include "grid/rank_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "eb/geometry.hpp"
#include "support/geometry_cases.hpp"

namespace karst::rank_plan_test {
namespace {

/// Messages and values that a plan tells against those of the exchanges that are made, on one level and on two.
TEST(RankPlanMpi, IsWhatRanksExchange) {
  const Comm comm = Comm::world();
  for (const int levels : {1, 2}) {
    const auto phi = make_level_set(Sphere{{16.3, 15.8, 16.1}, 4.0});
    GridOptions options = test::grid_of(32, levels);
    const Geometry geometry = build_geometry(comm, options, *phi, KeepPores::all);
    std::vector<const Layout*> layouts;
    double messages = 0.0, values = 0.0;
    for (const LevelGeometry& level : geometry.levels) {
      layouts.push_back(&level.graph.layout());
      for (const ExchangePeer& peer : level.graph.halo_plan().peers) {
        messages += peer.n_send() > 0 ? 1.0 : 0.0;
        values += static_cast<double>(peer.n_send());
      }
    }
    const RankPlan plan = plan_ranks(layouts);
    EXPECT_EQ(plan.messages.most, comm.max(messages));
    EXPECT_NEAR(plan.messages.mean, comm.sum(messages) / comm.size(), 1e-12);
    EXPECT_GE(plan.messages_with_edges.least, plan.messages.least);
    EXPECT_GE(plan.cells.mean * comm.size(), comm.sum(values));
    EXPECT_LE(plan.cells.mean * comm.size(), 1.35 * comm.sum(values));
  }
}

/// Walls that cross edges of boxes: some cut cells have a face with a diagonal neighbour.
TEST(RankPlanMpi, WallsOnEdgesOfBoxesSendMore) {
  const Comm comm = Comm::world();
  const auto phi = make_level_set(Sphere{{16.3, 15.8, 16.1}, 13.0});
  const Geometry geometry = build_geometry(comm, test::grid_of(32, 1), *phi, KeepPores::all);
  const LevelGraph& graph = geometry.levels[0].graph;
  const Layout* const layout = &graph.layout();
  double messages = 0.0;
  for (const ExchangePeer& peer : graph.halo_plan().peers) messages += peer.n_send() > 0 ? 1.0 : 0.0;
  const RankPlan plan = plan_ranks(std::span(&layout, 1));
  EXPECT_GE(comm.max(messages), plan.messages.most);
  EXPECT_LE(comm.max(messages), plan.messages_with_edges.most);
  EXPECT_GE(comm.sum(messages), plan.messages.mean * comm.size() - 1e-9);
  EXPECT_LE(comm.sum(messages), plan.messages_with_edges.mean * comm.size() + 1e-9);
}

/// A layout for ranks that are not there is the one that so many ranks have.
TEST(RankPlanMpi, OneRankPlansForMany) {
  const Comm comm = Comm::world();
  const auto phi = make_level_set(Sphere{{16.3, 15.8, 16.1}, 9.0});
  const GridOptions options = test::grid_of(32, 2);
  BoxCosts costs;
  costs.ranks = comm.size();
  const GridHierarchy planned = build_grid(Comm::self(), options, *phi, costs), made = build_grid(comm, options, *phi);
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(planned.levels[l].layout.keys(), made.levels[l].layout.keys());
    EXPECT_EQ(planned.levels[l].imbalance, made.levels[l].imbalance);
    for (int r = 0; r < comm.size(); ++r) EXPECT_EQ(planned.levels[l].layout.owned(r), made.levels[l].layout.owned(r));
  }
}

/// 8 x 8 x 8 boxes of 8³ cells, all fluid, on 8 ranks: each has a cube of 4 x 4 x 4 boxes, three neighbours (six with a
/// periodic domain, the same ones twice) and 16 faces of boxes of 64 cells to each side.
TEST(RankPlan, CubesOfBoxes) {
  for (const bool periodic : {false, true}) {
    BoxCosts costs;
    costs.ranks = 8;
    const BuiltLayout built = build_layout(
        Comm::self(), {{64, 64, 64}, {periodic, periodic, periodic}}, 8, [](const Box&) { return 1.0; }, costs);
    const Layout* const layout = &built.layout;
    const RankPlan plan = plan_ranks(std::span(&layout, 1));
    EXPECT_EQ(plan.boxes, 512);
    for (const OverRanks& x : {plan.boxes_of_rank, plan.messages, plan.cells, plan.surface}) EXPECT_EQ(x.least, x.most);
    EXPECT_EQ(plan.boxes_of_rank.mean, 64.0);
    EXPECT_EQ(plan.messages.mean, 3.0);
    EXPECT_EQ(plan.messages_with_edges.mean, 6.0);
    EXPECT_EQ(plan.cells.mean, (periodic ? 6 : 3) * 16 * 64.0);
    EXPECT_NEAR(plan.surface.mean, plan.cells.mean / (64.0 * 512.0), 1e-15);
  }
}

}  // namespace
}  // namespace karst::rank_plan_test
