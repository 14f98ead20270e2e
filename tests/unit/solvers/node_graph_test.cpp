// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/node_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "grid/morton.hpp"
#include "solvers/multigrid/chebyshev.hpp"
#include "solvers/multigrid/coarse_level.hpp"
#include "solvers/multigrid/direct_solve.hpp"
#include "solvers/multigrid/fine_coarsen.hpp"
#include "solvers/multigrid/merged_ranks.hpp"
#include "support/multigrid_cases.hpp"

namespace karst::node_graph_test {
namespace {

/// Nodes 0 .. n-1 in a row, neighbours connected with weight 1, except across the given cuts (between i and i + 1).
NodeGraph chain(int n, const std::vector<int>& cuts = {}) {
  NodeGraph graph;
  for (int i = 0; i < n; ++i) {
    graph.key.push_back(morton_encode({i, 0, 0}));
    graph.shift.push_back(0.0F);
    graph.entering.push_back(0.0F);
    for (const int j : {i - 1, i + 1}) {
      if (j < 0 || j >= n || std::ranges::count(cuts, std::min(i, j)) > 0) continue;
      graph.column.push_back(j);
      graph.weight.push_back(1.0F);
    }
    graph.begin.push_back(std::ssize(graph.column));
  }
  return graph;
}

// Nodes without partners stay until all are in one block, which is one window, however many they are.
TEST(CoarseLevel, WindowsOfManyNodes) {
  constexpr int n = 70000;  // more than 16 bits count
  NodeGraph lone;
  for (int i = 0; i < n; ++i) {
    lone.key.push_back(0);
    lone.shift.push_back(1.0F + static_cast<float>(i % 7));
    lone.entering.push_back(0.0F);
    lone.begin.push_back(0);
  }
  CoarsenedNodes coarse = coarsen(Comm::self(), lone, 0.5F);
  CoarseLevel level(Comm::self(), lone, std::move(coarse.children), std::move(coarse.bond));
  std::ranges::fill(level.rhs(), 3.0F);
  level.first_sweep(1.0F);
  for (int i = 0; i < n; i += 100) ASSERT_FLOAT_EQ(level.result()[i], 3.0F / (1.0F + static_cast<float>(i % 7))) << i;
}

// Pairs of a chain become nodes; the weight between two of them is that of the one face between them, times the
// harmonic mean of 1/2 for a pair and 1 for a node that stays alone. A cut inside a pair makes two nodes of it.
TEST(NodeGraph, CoarsensConnectedPiecesOfBlocks) {
  const CoarsenedNodes coarse = coarsen(Comm::self(), chain(8, {2, 5}), 0.5F);
  EXPECT_EQ(coarse.children.child, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(coarse.children.begin, (std::vector<std::int64_t>{0, 2, 3, 4, 6, 8}));
  EXPECT_EQ(coarse.graph.column, (std::vector<std::int32_t>{1, 0, 3, 2}));  // cuts stay cuts
  for (const float w : coarse.graph.weight) EXPECT_FLOAT_EQ(w, 2.0F / 3.0F);
  for (const float w : coarsen(Comm::self(), chain(8, {}), 0.5F).graph.weight) EXPECT_EQ(w, 0.5F);
  EXPECT_EQ(coarse.graph.key[4], morton_encode({3, 0, 0}));
}

// Nodes that find no partner for several levels, at the corner of larger and larger blocks, keep their weights and
// shifts: nothing gets coarser there.
TEST(NodeGraph, LonelyNodesKeepTheirWeights) {
  NodeGraph graph = chain(16, {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14});  // the face between 7 and 8 is left
  const float shift = graph.shift[7] = 0.25F, weight = graph.weight[0];
  ASSERT_EQ(graph.weight.size(), 2u);
  for (int level = 0; level < 3; ++level) {
    graph = coarsen(Comm::self(), graph, 0.5F).graph;
    ASSERT_EQ(graph.size(), 16);
    EXPECT_EQ(graph.weight, (std::vector<float>{weight, weight}));
    EXPECT_EQ(graph.shift[7], shift);
  }
}

// VoFs that nothing connects (here: those that do not hold their cell centre) have no node, all others have one.
TEST(NodeGraph, NoNodesForVofsAloneMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  const TwoPointLevel fine =
      make_two_point_level(comm, geometry, test::problem_with(test::Walls::dirichlet), WallForm::lines);
  std::int64_t alone = 0, with_node = 0;
  for (const std::array<float, 6>& weight : fine.weight) alone += weight == std::array<float, 6>{};
  ASSERT_GT(comm.sum(alone), 10);
  LevelLinks no_links(comm, std::span(&fine, 1));
  const CoarsenedLevels coarse = coarsen(comm, std::span(&fine, 1), no_links, 1.0F);
  const FineChildren& children = coarse.children.front();
  for (std::size_t b = 0; b + 1 < children.node_begin.size(); ++b)
    if (children.node_begin[b + 1] > children.node_begin[b]) with_node += children.end[children.node_begin[b + 1] - 1];
  EXPECT_EQ(comm.sum(with_node) + comm.sum(alone), comm.sum(geometry.graph.counts().vofs));
}

// However often it is coarsened: shifts add up, weights stay symmetric, every node has one parent.
TEST(NodeGraph, SumsArePreservedMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  const TwoPointLevel fine = make_two_point_level(comm, geometry, test::problem_with(test::Walls::dirichlet));
  LevelLinks no_links(comm, std::span(&fine, 1));
  CoarsenedLevels first = coarsen(comm, std::span(&fine, 1), no_links, 1.0F);
  const auto total_shift = [&](const NodeGraph& g) {
    return comm.sum(std::accumulate(g.shift.begin(), g.shift.end(), 0.0));
  };
  const double expected = total_shift(first.graph);
  NodeGraph graph = std::move(first.graph);
  std::int64_t before = comm.sum(geometry.graph.counts().vofs);
  for (int level = 0; level < 3; ++level) {
    EXPECT_LT(comm.sum(graph.size()), before / 2);
    before = comm.sum(graph.size());
    EXPECT_NEAR(total_shift(graph), expected, 1e-5 * expected);
    const NodeGraph all = gather(comm, graph);
    EXPECT_EQ(all.size(), before);
    std::map<std::pair<std::int64_t, std::int64_t>, double> weight;
    for (std::int64_t v = 0; v < all.size(); ++v)
      for (std::int64_t k = all.begin[v]; k < all.begin[v + 1]; ++k)
        weight[{v, all.column[k]}] += double{all.weight[k]};
    for (const auto& [pair, w] : weight) {
      const auto back = weight.find({pair.second, pair.first});
      ASSERT_TRUE(back != weight.end());
      EXPECT_NEAR(back->second, w, 1e-5 * w);
    }
    CoarsenedNodes next = coarsen(comm, graph, 1.0F);
    std::vector<int> seen(graph.size());
    for (const std::int32_t c : next.children.child) ++seen[c];
    EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
    graph = std::move(next.graph);
  }
}

/// A graph that neighbouring ranks have given to one of them is that of all ranks, nodes in the same order.
TEST(NodeGraph, MergedRanksHaveTheSameGraphMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  TwoPointLevel fine = make_two_point_level(comm, geometry, test::problem_with(test::Walls::dirichlet));
  LevelLinks no_links(comm, std::span(&fine, 1));
  const NodeGraph graph = coarsen(comm, std::span(&fine, 1), no_links, 1.0F).graph;
  const NodeGraph expected = gather(comm, graph);
  for (int group = 1; group <= comm.size() + 1; ++group) {
    const NodeGraph merged = merge(comm, graph, group);
    const std::optional<Comm> left = comm.every(group);
    ASSERT_EQ(left.has_value(), comm.rank() % group == 0);
    EXPECT_EQ(merged.size() > 0, left.has_value());
    EXPECT_TRUE(std::ranges::is_sorted(merged.remote));
    if (!left) continue;
    EXPECT_EQ(left->size(), (comm.size() + group - 1) / group);
    EXPECT_EQ(left->rank(), comm.rank() / group);
    const NodeGraph all = gather(*left, merged);
    EXPECT_EQ(all.key, expected.key);
    EXPECT_EQ(all.begin, expected.begin);
    EXPECT_EQ(all.column, expected.column);
    EXPECT_EQ(all.weight, expected.weight);
    EXPECT_EQ(all.shift, expected.shift);
  }
}

/// Values go to the first of each group and come back, those of each rank at its place.
TEST(MergedRanks, HandBackWhatTheyCollectMpi) {
  const Comm comm = Comm::world();
  for (int group = 1; group <= comm.size() + 1; ++group) {
    const std::size_t n = comm.rank() % 3;  // some have none
    BasicMergedRanks<3> ranks(comm, group, static_cast<std::int64_t>(n));
    const int end = std::min(comm.rank() + group, comm.size());
    std::size_t n_all = 0;
    for (int r = comm.rank(); ranks.leads() && r < end; ++r) n_all += static_cast<std::size_t>(r % 3);
    std::vector<Values<3>> all(n_all);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < 3; ++c) ranks.rhs()[i].v[c] = static_cast<float>(10 * comm.rank() + 3 * i + c);
    for (int round = 0; round < 2; ++round) {
      ranks.collect(std::span(all));
      std::size_t place = 0;
      for (int r = comm.rank(); ranks.leads() && r < end; ++r)
        for (std::size_t i = 0; i < static_cast<std::size_t>(r % 3); ++i, ++place)
          EXPECT_EQ(all[place].v[1], static_cast<float>(10 * r + 3 * static_cast<int>(i) + 1));
      for (Values<3>& x : all) x.v[2] += 100.0F;
      ranks.hand_out(std::span<const Values<3>>(all));
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(ranks.result()[i].v[2], ranks.rhs()[i].v[2] + 100.0F);
    }
    const std::vector<float> ids = ranks.collect(std::vector<float>(n, static_cast<float>(comm.rank())));
    EXPECT_EQ(ids.size(), n_all);
    if (!ids.empty()) {
      EXPECT_EQ(ids.back(), static_cast<float>((end - 1) % 3 > 0 ? end - 1 : end - 2));
    }
  }
}

// A chain with one fixed end: the solution is known, x_i = i + 1 for a flux of 1 put in at the far end.
TEST(DirectSolve, SolvesAChain) {
  NodeGraph graph = chain(5);
  graph.shift[0] = 1.0F;
  DirectSolve solve(graph);
  solve.rhs()[4] = 1.0F;
  solve.solve();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(solve.result()[i], static_cast<double>(i) + 1.0, 1e-5);
}

// Components without a fixed value are held at one node, single nodes too; others are not touched by that.
TEST(DirectSolve, PinsSingularComponents) {
  NodeGraph graph = chain(7, {2, 5});  // 0 1 2 | 3 4 5 | 6
  graph.shift[3] = 2.0F;
  DirectSolve solve(graph);
  for (float& b : solve.rhs()) b = 1.0F;
  solve.solve();
  EXPECT_NEAR(solve.result()[0], 1.0, 1e-6);
  EXPECT_EQ(solve.result()[1], 0.0F);  // the one with the strongest connections
  EXPECT_NEAR(solve.result()[2], 1.0, 1e-6);
  EXPECT_NEAR(solve.result()[3], 1.5, 1e-6);
  EXPECT_EQ(solve.result()[6], 0.0F);
}

// A right-hand side that does not balance to round-off, and a first node behind a weak link: what is too much must not
// pass that link, or the others come out as 1e-7 / 1e-9.
TEST(DirectSolve, PinsNoWeakNode) {
  NodeGraph graph = chain(5);
  graph.weight[0] = graph.weight[1] = 1e-9F;
  DirectSolve solve(graph);
  solve.rhs()[1] = 1.0F;
  solve.rhs()[4] = -1.0F + 1e-7F;
  solve.solve();
  EXPECT_NEAR(solve.result()[1] - solve.result()[4], 3.0, 1e-5);
  for (const float x : solve.result()) EXPECT_LT(std::abs(x), 3.1);
}

// Each component of the velocity has its own shifts, also where nothing connects a node to others: b / shift there, and
// 0 for a component that nothing holds. Both nodes of a pair follow the shift of one of them.
TEST(DirectSolve, ComponentsHaveTheirOwnShifts) {
  NodeGraph graph = chain(5, {1, 2, 3});  // 0 1 | 2 | 3 | 4
  graph.shift[2] = 2.0F;
  graph.component_shift = {{1, {0.5F, 0.25F, 0.0F}}, {2, {0.5F, 0.0F, 2.0F}}, {3, {0.0F, 4.0F, 0.0F}}};
  BasicDirectSolve<3> solve(graph);
  for (Values<3>& b : solve.rhs()) b.v = {1.0F, 3.0F, 0.0F};
  solve.rhs()[2].v[2] = 6.0F;
  for (const std::size_t v : {3U, 4U}) solve.rhs()[v].v[2] = 1.0F;
  solve.solve();
  const std::array<std::array<double, 3>, 5> exact{
      {{5.0, 27.0, 0.0}, {4.0, 24.0, 0.0}, {0.4, 1.5, 1.5}, {0.0, 0.75, 0.0}, {0.0, 0.0, 0.0}}};
  for (std::size_t v = 0; v < 5; ++v)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(solve.result()[v].v[c], exact[v][c], 1e-5) << v << ' ' << c;
}

// After k sweeps the error of an eigenvector is T_k((middle - λ)/half) / T_k(middle/half) of what it was.
TEST(Chebyshev, DampsAsItsPolynomial) {
  for (const int degree : {1, 2, 3, 5}) {
    const std::vector<SweepFactors> sweeps = chebyshev_sweeps(degree, 0.25, 2.0);
    for (const double lambda : {0.25, 0.9, 1.6, 2.0}) {
      double x = 1.0, old = 0.0;  // error; b = 0, so D^-1 (b - A x) = -λ x
      for (const SweepFactors& f : sweeps) {
        const double next = double{f.p} * x + double{f.q} * old + double{f.c} * (1.0 - lambda) * x;
        old = std::exchange(x, next);
      }
      const double middle = 1.125, half = 0.875;
      const auto chebyshev = [&](double t) {
        return std::abs(t) <= 1.0 ? std::cos(degree * std::acos(t)) : std::cosh(degree * std::acosh(t));
      };
      EXPECT_NEAR(x, chebyshev((middle - lambda) / half) / chebyshev(middle / half), 1e-6);
    }
  }
}

}  // namespace
}  // namespace karst::node_graph_test
