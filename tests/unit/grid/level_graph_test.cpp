// SPDX-License-Identifier: BSD-3-Clause
#include "grid/level_graph.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "support/errors.hpp"
#include "unit/grid/model.hpp"

namespace karst::level_graph_test {
namespace {

using test::Model;

void expect_same(const BoxAdjacency& a, const BoxAdjacency& b) {
  EXPECT_EQ(a.cell, b.cell);
  EXPECT_EQ(a.irregular, b.irregular);
  EXPECT_EQ(a.primary, b.primary);
  ASSERT_EQ(a.extra.size(), b.extra.size());
  for (std::size_t e = 0; e < a.extra.size(); ++e) {
    EXPECT_EQ(a.extra[e].vof, b.extra[e].vof);
    EXPECT_EQ(a.extra[e].side, b.extra[e].side);
    EXPECT_EQ(a.extra[e].neighbour, b.extra[e].neighbour);
  }
}

std::vector<Model> several_models(const Comm& comm) {
  std::vector<Model> models;
  models.push_back(test::random_model(comm, {{20, 17, 9}, {false, true, false}}, 8, 1));
  models.push_back(test::random_model(comm, {{16, 8, 8}, {true, true, true}}, 8, 2));  // own neighbour in y and z
  models.push_back(
      test::random_model(comm, {{33, 19, 1}, {true, false, true}}, 16, 3));  // one cell thick, clipped to one
  models.emplace_back(comm, Domain{{32, 16, 16}, {true, true, true}}, 16, test::full);
  models.emplace_back(
      comm, Domain{{40, 24, 1}, {false, true, true}}, 8, test::full, [](const Index&, int, int, int) { return true; },
      true);
  // Second pieces that touch nothing: their neighbours are regular, but break the numbering of the rows next to them.
  models.emplace_back(
      comm, Domain{{24, 16, 16}, {true, true, true}}, 8,
      [](const Index& c) {
        return test::mixed({c[0], c[1], c[2]}) % 10 == 0 ? 2 : 1;
      },
      [](const Index&, int p, int, int q) { return p == 0 && q == 0; });
  // Fluid in every second box only, next to a coarse region.
  models.emplace_back(comm, Domain{{32, 24, 16}, {true, false, false}}, 8, [](const Index& c) {
    const int box = c[0] / 8 + c[1] / 8;
    return box % 3 == 0 ? 0 : box % 3 == 1 ? 1 : test::coarse_cell;
  });
  return models;
}

/// f(model, box) for all own boxes of all models.
template <class F>
void for_each_box(F&& f) {
  const Comm comm = Comm::world();
  for (const Model& model : several_models(comm)) {
    const LevelGraph graph = model.build(comm);
    for (int b = 0; b < graph.n_local(); ++b) f(model, graph.box(b));
  }
}

// Runs and rows, decoded, are the adjacency that was handed in.
TEST(LevelGraphMpi, HoldsTheAdjacencyHandedIn) {
  const Comm comm = Comm::world();
  for (const Model& model : several_models(comm)) {
    const LevelGraph graph = model.build(comm);
    for (int b = 0; b < graph.n_local(); ++b)
      expect_same(adjacency_of(graph.box(b)), model.adjacency(graph.first_box() + b));
  }
}

TEST(LevelGraphMpi, LoopsVisitEveryVofOnceInOrder) {
  for_each_box([](const Model& model, const BoxGraph& g) {
    int next = 0;
    for_each_vof(g, [&](int vof, int cell) {
      EXPECT_EQ(vof, next++);
      EXPECT_EQ(g.cells.cell(cell), model.cell(vof_name(g.box, vof)));
      EXPECT_EQ(cell_of(g, vof), cell);
    });
    EXPECT_EQ(next, g.n_own);
    EXPECT_TRUE(std::is_sorted(g.row_vof.begin(), g.row_vof.begin() + g.n_irregular));
    EXPECT_TRUE(std::is_sorted(g.row_vof.begin() + g.n_irregular, g.row_vof.end()));
  });
}

// Halo: exactly the VoFs of other boxes across the faces of the own ones, by the model.
TEST(LevelGraphMpi, HaloHoldsTheVofsAcrossFaces) {
  const Comm comm = Comm::world();
  const Model model = test::random_model(comm, {{20, 17, 9}, {false, true, false}}, 8, 4);
  const LevelGraph graph = model.build(comm);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    std::set<VofName> expected;
    for (int v = 0; v < g.n_own; ++v)
      if (const auto at = model.faces.find(vof_name(g.box, v)); at != model.faces.end())
        for (const auto& [side, n] : at->second)
          if (is_vof(n) && box_of(n) != g.box) expected.insert(n);
    std::vector<VofName> halo(g.halo.begin(), g.halo.end());
    EXPECT_TRUE(std::is_sorted(halo.begin(), halo.end()));
    halo.resize(g.halo.n_vofs());
    EXPECT_EQ(halo, std::vector<VofName>(expected.begin(), expected.end()));
    for (int i = 0; i < g.halo.n_vofs(); ++i) EXPECT_EQ(g.halo.find(g.halo[i]), i);
    EXPECT_EQ(g.halo.find(vof_name(g.box, 0)), -1);
    EXPECT_EQ(g.halo.find(domain_face), -1);
  }
}

// Every coarse or domain face has a ghost slot of its own.
TEST(LevelGraphMpi, EveryOpenEndHasItsGhost) {
  for_each_box([](const Model&, const BoxGraph& g) {
    std::vector<int> seen(g.n_slots(), 0);
    int ghosts = 0;
    for_each_face(g, [&](int, int, int slot) {
      if (slot < g.n_own || is_vof(g.name(slot))) return;
      ++ghosts;
      EXPECT_EQ(++seen[slot], 1);
    });
    EXPECT_EQ(ghosts, g.halo.n_coarse() + g.halo.n_domain());
    EXPECT_EQ(g.n_halo, g.halo.size());
  });
}

// Whole boxes without any wall: all x-rows are runs, one each, and boxes share tables.
TEST(LevelGraph, RunsCoverBoxesWithoutWalls) {
  const Model model(Comm::self(), {{48, 48, 48}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(Comm::self());
  const GraphCounts& counts = graph.counts();
  for (int b = 0; b < graph.n_local(); ++b) EXPECT_EQ(graph.box(b).runs.size(), 64U);
  EXPECT_EQ(counts.vofs, 48 * 48 * 48);
  EXPECT_EQ(counts.in_runs, counts.vofs);
  EXPECT_EQ(counts.irregular, 0);
  EXPECT_EQ(counts.halo_vofs, 6 * 6 * 6 * 6 * 64);
  EXPECT_EQ(counts.slots, 6 * 6 * 6 * (512 + 6 * 64 + 1));
  EXPECT_GT(counts.shared_tables, 100);
}

// A box that is its own neighbour sees the images of its outer VoFs in its halo, one slot each.
TEST(LevelGraph, PeriodicImagesAreHaloSlots) {
  const Model model(Comm::self(), {{8, 8, 8}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(Comm::self());
  EXPECT_EQ(graph.box(0).halo.n_vofs(), 8 * 8 * 8 - 6 * 6 * 6);
  for_each_vof(graph.box(0), [&](int, int cell, const std::array<std::uint16_t, 6>& slots) {
    const Box box = graph.box(0).cells;
    for (int side = 0; side < 6; ++side)
      EXPECT_EQ(slots[side] < graph.box(0).n_own, box.contains(box.cell(cell) + side_offset(side)));
  });
}

TEST(LevelGraph, SlotsFitSixteenBitsInTheLargestBox) {
  const Model model(
      Comm::self(), {{64, 32, 32}, {false, false, false}}, 32, test::full,
      [](const Index&, int, int, int) { return true; }, true);
  const LevelGraph graph = model.build(Comm::self());
  EXPECT_EQ(graph.box(0).n_slots(), 32 * 32 * 32 + 6 * 32 * 32 + 1);
  expect_same(adjacency_of(graph.box(1)), model.adjacency(1));
}

TEST(LevelGraph, TooManySlotsNamesTheBox) {
  const Layout layout({{32, 32, 32}, {}}, 32, {0}, {0, 1});
  const auto adjacency = [](std::int64_t) {
    BoxAdjacency a;  // two pieces in every cell
    for (int v = 0; v < 2 * 32768; ++v) a.cell.push_back(static_cast<std::uint16_t>(v / 2));
    a.irregular.assign(a.cell.size(), 1);
    std::array<VofName, 6> closed;
    closed.fill(no_face);
    a.primary.assign(a.cell.size(), closed);
    return a;
  };
  const std::string text = test::error_of([&] { build_level_graph(Comm::self(), layout, adjacency); });
  EXPECT_TRUE(test::has(text, "box 0")) << text;
  EXPECT_TRUE(test::has(text, "65536")) << text;
}

TEST(LevelGraphMpi, CheckAcceptsGraphsSeenFromBothSides) {
  const Comm comm = Comm::world();
  for (const Model& model : several_models(comm)) EXPECT_TRUE(check(comm, model.build(comm)).empty());
}

TEST(LevelGraphMpi, CheckFindsOneSidedFaces) {
  const Comm comm = Comm::world();
  Model model(comm, {{32, 32, 16}, {true, true, true}}, 8, test::full);
  const VofName a = model.name({7, 7, 7}, 0), b = model.name({8, 7, 7}, 0);
  auto& from_a = model.faces[a];
  from_a.erase(std::find(from_a.begin(), from_a.end(), std::pair{1, b}));
  const std::vector<std::string> wrong = check(comm, model.build(comm));
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(wrong.size())), 2);  // once from each end
}

}  // namespace
}  // namespace karst::level_graph_test
