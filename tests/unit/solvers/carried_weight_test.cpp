// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/carried_weight.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "grid/morton.hpp"
#include "solvers/multigrid/direct_solve.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"
#include "support/multigrid_cases.hpp"

namespace karst::carried_weight_test {
namespace {

// Central differences of a flow that the nodes resolve; always positive, and what one flow carries stays as it is.
TEST(CarriedWeight, CentralWhereTheFlowIsSlow) {
  for (const float inflow : {-1.7F, -0.5F, 0.0F, 0.5F, 1.7F})
    EXPECT_FLOAT_EQ(carried_weight(1.0F, inflow), 1.0F + 0.5F * inflow);
  for (const float inflow : {1.0F, 30.0F}) {
    EXPECT_GT(carried_weight(0.5F, -inflow), 0.0F);
    EXPECT_FLOAT_EQ(carried_weight(0.5F, inflow) - carried_weight(0.5F, -inflow), inflow);
  }
}

/// Nodes 0 .. n-1 in a row with weights 1; a flow along it, growing by 1 from node to node by what enters there.
NodeGraph stream(int n) {
  NodeGraph graph;
  for (int i = 0; i < n; ++i) {
    graph.key.push_back(morton_encode({i, 0, 0}));
    graph.shift.push_back(i == 0 ? 1.0F : 0.0F);
    graph.entering.push_back(1.0F);
    for (const int j : {i - 1, i + 1}) {
      if (j < 0 || j >= n) continue;
      graph.column.push_back(j);
      graph.weight.push_back(1.0F);
      graph.inflow.push_back(static_cast<float>(j < i ? i : -j));
    }
    graph.begin.push_back(std::ssize(graph.column));
  }
  return graph;
}

// Between coarse nodes flows what flows between their children, whatever the scale of the weights.
TEST(NodeGraph, KeepsWhatFlows) {
  const NodeGraph coarse = coarsen(Comm::self(), stream(8), 0.5F).graph;
  EXPECT_EQ(coarse.column, (std::vector<std::int32_t>{1, 0, 2, 1, 3, 2}));
  EXPECT_EQ(coarse.inflow, (std::vector<float>{-2, 2, -4, 4, -6, 6}));
  EXPECT_EQ(coarse.entering, (std::vector<float>{2, 2, 2, 2}));
  for (const float w : coarse.weight) EXPECT_EQ(w, 0.5F);
}

TEST(DirectSolve, SolvesWithAFlow) {
  const NodeGraph graph = stream(6);
  DirectSolve solve(graph);
  for (std::size_t i = 0; i < 6; ++i) solve.rhs()[i] = static_cast<float>(i * i) - 7.0F;
  solve.solve();
  const auto x = solve.result();
  for (std::size_t i = 0; i < 6; ++i) {
    double product = (double{graph.shift[i]} + double{graph.entering[i]}) * double{x[i]};
    for (std::size_t k = graph.begin[i]; k < static_cast<std::size_t>(graph.begin[i + 1]); ++k)
      product += double{graph.weight_of(k)} * (double{x[i]} - double{x[graph.column[k]]});
    EXPECT_NEAR(product, static_cast<double>(i * i) - 7.0, 1e-3) << i;
  }
}

/// Dirichlet walls of a packing and a flow without divergence, (sin 2πy/n, sin 2πz/n, sin 2πx/n) times the speed: what
/// 8 steps x += M (b - A x) leave of a residual, per step. `aware`: M knows the flow.
double reduction(const Comm& comm, float speed, bool aware) {
  constexpr int n = 32;
  const LevelGeometry geometry = test::packing_level(comm, n, 8, 8.0);
  const auto make = [&](bool with_flow) {
    TwoPointLevel level =
        make_two_point_level(comm, geometry, test::problem_with(test::Walls::dirichlet), WallForm::lines);
    if (!with_flow) return level;
    const LevelGraph& graph = geometry.graph;
    level.inflow = Array<std::array<float, 6>>(graph.vof_begin(graph.n_local()), Purpose::solver, {});
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      for_each_vof(g, [&](int vof, int cell) {
        const Index c = g.cells.cell(cell);
        for (std::size_t s = 0; s < 6; ++s) {
          const double u = speed * std::sin(2.0 * std::numbers::pi * (c[static_cast<int>((s / 2 + 1) % 3)] + 0.5) / n);
          level.inflow[graph.vof_begin(b) + vof][s] = static_cast<float>(s % 2 == 0 ? u : -u);
        }
      });
    }
    return level;
  };
  MultigridOptions options;
  options.coarse_scale = 0.55;
  options.twice_high = 2.0;
  if (aware) {
    options.fine_steps = {0.6F, 1.0F};
    options.coarse_steps = {0.5F, 0.75F, 1.0F};
  }
  const TwoPointLevel level = make(true);
  GraphMultigrid a(comm, level, options), m(comm, make(aware), options);
  const std::vector<double> b = test::random_values(std::span(&level, 1));
  std::vector<double> x(b.size()), r = b, z(b.size());
  const double before = std::sqrt(test::dot(comm, b, b));
  for (int step = 0; step < 8; ++step) {
    m.apply(r, z);
    for (std::size_t v = 0; v < x.size(); ++v) x[v] += z[v];
    a.product(x, r);
    for (std::size_t v = 0; v < x.size(); ++v) r[v] = b[v] - r[v];
  }
  return std::pow(std::sqrt(test::dot(comm, r, r)) / before, 1.0 / 8.0);
}

// Cell Péclet numbers of 1 and 10. A cycle that does not know the flow makes the residual grow.
TEST(GraphMultigrid, KnowsTheFlowMpi) {
  const Comm comm = Comm::world();
  for (const float speed : {1.0F, 10.0F}) {
    const double left = reduction(comm, speed, true);
    EXPECT_LT(left, 0.55) << speed;
    EXPECT_NEAR(left, reduction(Comm::self(), speed, true), 1e-4) << speed;
  }
  EXPECT_GT(reduction(comm, 10.0F, false), 1.0);
}

}  // namespace
}  // namespace karst::carried_weight_test
