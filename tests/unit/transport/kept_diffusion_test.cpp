// SPDX-License-Identifier: BSD-3-Clause
// Rows, stencils and gradient weights that go from grid to grid: every bit is that of a grid made of none.
#include "transport/diffusion/kept_diffusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "solvers/elliptic/face_stencils.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/march/transport_parts.hpp"
#include "transport/volumes/gradient_weights.hpp"

namespace karst::kept_diffusion_test {
namespace {

template <class A, class B, class Same>
bool alike(const A& a, const B& b, Same&& same) {
  return std::ranges::equal(a, b, same);
}

void expect_same(const BoundaryTerms& a, const BoundaryTerms& b) {
  EXPECT_TRUE(alike(a.sides, b.sides, [](const SideTerm& x, const SideTerm& y) {
    return x.row == y.row && x.side == y.side && x.weight == y.weight && x.at == y.at;
  }));
  EXPECT_TRUE(alike(a.walls, b.walls, [](const KeptWall& x, const KeptWall& y) {
    return x.row == y.row && x.place == y.place && x.weight == y.weight && x.position == y.position;
  }));
  EXPECT_TRUE(alike(a.robin, b.robin, [](const RobinWall& x, const RobinWall& y) {
    return x.term == y.term && x.area == y.area && x.exchange == y.exchange && x.rate == y.rate;
  }));
  EXPECT_EQ(a.foreign.size(), b.foreign.size());
}

void expect_same(const FaceStencils& a, const FaceStencils& b) {
  EXPECT_EQ(a.plain, b.plain);
  EXPECT_TRUE(alike(a.windows, b.windows,
                    [](const FluxWindow& x, const FluxWindow& y) { return x.level == y.level && x.box == y.box; }));
  EXPECT_EQ(a.fluxes_begin, b.fluxes_begin);
  EXPECT_EQ(a.robin_begin, b.robin_begin);
  const auto same_place = [](const FluxPlace& x, const FluxPlace& y) {
    return x.kind == y.kind && x.direction == y.direction && x.sign == y.sign && x.at == y.at;
  };
  EXPECT_TRUE(alike(a.places, b.places, same_place));
  EXPECT_TRUE(std::ranges::equal(a.entries_begin, b.entries_begin));
  EXPECT_TRUE(std::ranges::equal(a.columns, b.columns));
  EXPECT_TRUE(std::ranges::equal(a.weights, b.weights));
  EXPECT_EQ(a.remote, b.remote);
  EXPECT_TRUE(alike(a.ways, b.ways, [&](const WayToHost& x, const WayToHost& y) {
    return x.window.box == y.window.box && same_place(x.place, y.place) && x.behind == y.behind;
  }));
  EXPECT_TRUE(alike(a.orphans, b.orphans, [](const JoinedOrphan& x, const JoinedOrphan& y) {
    return x.window.box == y.window.box && x.vof == y.vof && x.row == y.row && x.unknown == y.unknown;
  }));
  expect_same(a.boundary, b.boundary);
}

struct RowsOf {
  std::vector<std::int32_t> begin;
  std::vector<GlobalNumber> columns;
  std::vector<double> weights;
  friend bool operator==(const RowsOf&, const RowsOf&) = default;
};
RowsOf rows_of(const EllipticOperator& op) {
  RowsOf all;
  op.for_each_row([&](std::int32_t, std::span<const GlobalNumber> columns, std::span<const double> weights) {
    all.begin.push_back(static_cast<std::int32_t>(all.columns.size()));
    all.columns.insert(all.columns.end(), columns.begin(), columns.end());
    all.weights.insert(all.weights.end(), weights.begin(), weights.end());
  });
  return all;
}

void expect_same(const TransportParts& a, const TransportParts& b) {
  ASSERT_EQ(a.groups.size(), b.groups.size());
  ASSERT_EQ(a.grid->gradients.size(), b.grid->gradients.size());
  for (const GradientWeights& weights : a.grid->gradients)
    EXPECT_TRUE(std::ranges::equal(weights.weight, gradient_weights(*b.grid, weights.given)));
  std::vector<double> x(a.grid->n_values), y(a.grid->n_own), z(y);
  test::Random random(3);
  for (double& value : x) value = random();
  for (std::size_t g = 0; g < a.groups.size(); ++g) {
    DiffusionGroup &p = *a.groups[g], &q = *b.groups[g];
    EXPECT_EQ(rows_of(*p.op), rows_of(*q.op));
    EXPECT_EQ(p.op->counts().wide_rows, q.op->counts().wide_rows);
    EXPECT_EQ(p.op->counts().entries, q.op->counts().entries);
    EXPECT_EQ(p.op->counts().faces_slanted, q.op->counts().faces_slanted);
    expect_same(p.op->boundary(), q.op->boundary());
    expect_same(*p.op->faces(), *q.op->faces());
    EXPECT_TRUE(std::ranges::equal(p.rows.diagonal, q.rows.diagonal));
    EXPECT_TRUE(std::ranges::equal(p.rows.others, q.rows.others));
    EXPECT_TRUE(std::ranges::equal(p.rows.mass, q.rows.mass));
    apply_rows<1>(*a.grid, p.rows, 0.7, x, y);
    apply_rows<1>(*b.grid, q.rows, 0.7, x, z);
    EXPECT_EQ(y, z);
  }
}

/// One that leaves through an end of the domain and reacts on walls, one that does neither.
/// @param fast  the walls react faster beyond this
std::vector<ScalarComponent> two_components(double fast = 90.0) {
  std::vector<ScalarComponent> all(2);
  all[0].name = "a";
  all[0].diffusivity = 0.4;
  all[0].sides[0].kind = ScalarSide::Kind::fixed;
  all[0].wall = [fast](const WallPiece& piece) {
    return ScalarWall{0.1 + 0.01 * piece.position[1] + (piece.position[0] > fast ? 0.7 : 0.0), 0.3};
  };
  all[1].name = "b";
  all[1].diffusivity = 1.5;
  return all;
}

/// Goes to another grid and takes what can be taken, which has every bit of what is made of none before.
/// @param[in,out] parts  of the grid before, then of the next
/// @return where both are the same
std::shared_ptr<const SameBoxes> go_to(const Composite& last, const std::shared_ptr<const Composite>& next,
                                       const std::shared_ptr<const Composite>& again,
                                       const std::vector<ScalarComponent>& components,
                                       std::unique_ptr<TransportParts>& parts) {
  const std::shared_ptr<ScalarGrid> grid_before = parts->grid;
  std::vector<std::shared_ptr<DiffusionGroup>> groups = diffusion_groups_of(last);
  EXPECT_EQ(groups.size(), components.size());
  parts.reset();
  const auto kept = next->in_use().get<KeptDiffusion>([&] {
    return std::make_shared<KeptDiffusion>(std::make_shared<const SameBoxes>(compare_boxes(last, *next)),
                                           keep_rows(std::move(groups)));
  });
  const std::shared_ptr<ScalarGrid> grid = scalar_grid_of(next, {});
  take_gradient_weights({grid_before.get(), kept->same.get()}, *grid);
  parts = make_parts(next, components, {});
  expect_same(*parts, *make_parts(again, components, {}));
  return kept->same;
}

// Of a channel of 96 x 24 x 24 cells with spheres, and fragments among them, its front and a slice behind it are
// refined, then more of the front, then nothing. What has been kept is used: half of the boxes far from what changes.
TEST(KeptDiffusion, RowsAreThoseOfNoneBeforeMpi) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(60, 6.7, 96, false, 5);
  const auto grid_of = [&](double end, bool periodic) {
    const GridOptions grid = test::flow_grid({96, 24, 24}, {false, periodic, periodic});
    if (end == 0.0) return test::composite_of(comm, grid, *phi);
    const GridOptions behind = test::refined_in(grid, 1, {64, 0, 0}, {72, 24, 24});
    return test::composite_of(comm, test::refined_in(behind, 1, {0, 0, 0}, {end, 24, 24}), *phi);
  };
  std::int64_t fragments = 0, walls = 0;
  for (const bool periodic : {false, true}) {
    std::shared_ptr<const Composite> last = grid_of(40.0, periodic);
    std::unique_ptr<TransportParts> parts = make_parts(last, two_components(), {});
    for (const double end : periodic ? std::vector{48.0, 0.0} : std::vector{48.0, 0.0, 0.0}) {
      const std::shared_ptr<const Composite> next = grid_of(end, periodic);
      const double fast = end == 0.0 ? 80.0 : 90.0;  // other rates, in boxes that stay
      const auto kept = go_to(*last, next, grid_of(end, periodic), two_components(fast), parts);
      std::int64_t same = 0;
      for (const auto& level : kept->boxes)
        same += std::ranges::count_if(level, [](const SameBoxes::Box& b) { return b.box >= 0; });
      const int most = comm.size() == 1 ? 30 : comm.size() == 2 ? 10 : -1, few = comm.size() == 1 ? 5 : -1;
      EXPECT_GT(comm.sum(same), end > 0.0 ? most : few) << end;  // both refined parts go in the end
      for (const auto& group : parts->groups) {
        fragments += std::ssize(group->joined);
        walls += std::ssize(group->op->boundary().robin);
      }
      last = next;
    }
  }
  EXPECT_GT(comm.sum(fragments), 10);
  EXPECT_GT(comm.sum(walls), 1000);
}

// Channels through random packings of 32 x 16 x 16 cells, where some of the boxes of 8 cells are refined, others each
// time, so that something changes near all boxes that stay: single rows are taken there, a fifth of all or more.
TEST(KeptDiffusion, RowsNearChangesAreThoseOfNoneBeforeMpi) {
  const Comm comm = Comm::world();
  test::Random random(11);
  for (const int seed : {1, 2}) {
    const auto phi = test::packing(20, 4.3, 32, false, seed);
    const auto grid_of = [&](const std::vector<double>& places) {
      GridOptions grid = test::flow_grid({32, 16, 16}, {false, seed == 2, seed == 2});
      for (const double x : places) {
        const double y = x < 0.5 ? 2.0 : 10.0;
        grid = test::refined_in(grid, 1, {32 * x, y, 2.0}, {32 * x + 0.1, y + 3.0, 10.0});
      }
      return test::composite_of(comm, grid, *phi);
    };
    std::vector<double> places{0.1, 0.45, 0.6};
    std::shared_ptr<const Composite> last = grid_of(places);
    std::unique_ptr<TransportParts> parts = make_parts(last, two_components(), {});
    std::int64_t taken = 0, n = 0;
    for (int i = 0; i < 2; ++i) {
      places[i] = 0.97 * random();
      if (i == 1) places.push_back(0.97 * random());
      const std::shared_ptr<const Composite> next = grid_of(places);
      const auto same = go_to(*last, next, grid_of(places), two_components(), parts);
      taken += std::ranges::count(same->stays, std::uint8_t{3});
      n += next->numbering().n_own();
      last = next;
    }
    EXPECT_TRUE(comm.size() > 1 || 5 * taken > n) << seed << ": " << taken << " of " << n;
  }
}

}  // namespace
}  // namespace karst::kept_diffusion_test
