// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_exchange.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "grid/vof_loops.hpp"
#include "unit/grid/model.hpp"

namespace karst {
namespace {

using test::Model;

template <class T>
void fill_own(const Model& model, const LevelGraph& graph, BasicField<T>& x, double shift) {
  for (int b = 0; b < graph.n_local(); ++b)
    for (int c = 0; c < x.n_components(); ++c)
      for (int v = 0; v < x.slots()->n_own(b); ++v)
        x.own(b, c)[static_cast<std::size_t>(v)] =
            static_cast<T>(model.value(vof_name(graph.first_box() + b, v)) + shift + c);
}

/// Every halo VoF holds the value of the VoF of its name, bit by bit; ghosts and closed slots are untouched.
template <class T>
void expect_filled(const Model& model, const LevelGraph& graph, const BasicField<T>& x, double shift) {
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for (int c = 0; c < x.n_components(); ++c)
      for (int slot = 0; slot < g.n_slots(); ++slot) {
        const VofName name = g.name(slot);
        const T expected = is_vof(name) ? static_cast<T>(model.value(name) + shift + c) : T{0};
        ASSERT_EQ(x.box(b, c)[static_cast<std::size_t>(slot)], expected) << "box " << g.box << " slot " << slot;
      }
  }
}

void expect_exact(const Comm& comm, const Model& model, int depth = 1) {
  const LevelGraph graph = model.build(comm, depth);
  Field p(graph), u(graph, 3);
  HaloExchange exchange(comm, graph, 4);
  for (const double shift : {0.0, 0.5, 7.0}) {
    fill_own(model, graph, p, shift);
    fill_own(model, graph, u, -shift);
    exchange.begin({&p, &u});
    exchange.finish();
    expect_filled(model, graph, p, shift);
    expect_filled(model, graph, u, -shift);
  }
}

bool always(const Index&, int, int, int) { return true; }

TEST(HaloExchangeMpi, ExactOnRandomGraphs) {
  const Comm comm = Comm::world();
  expect_exact(comm, test::random_model(comm, {{20, 17, 9}, {false, true, false}}, 8, 11));
  expect_exact(comm, test::random_model(comm, {{33, 19, 1}, {true, false, true}}, 16, 12));
  expect_exact(comm, test::random_model(comm, {{20, 17, 9}, {true, true, true}}, 8, 13), 3);
}

TEST(HaloExchangeMpi, ExactWithPeriodicSides) {
  const Comm comm = Comm::world();
  for (const std::array<bool, 3> periodic : {std::array{true, true, true}, {true, false, false}, {false, true, true}})
    expect_exact(comm, Model(comm, {{24, 16, 8}, periodic}, 8, test::full, always, true));
}

TEST(HaloExchangeMpi, ExactInThinAndClippedDomains) {
  const Comm comm = Comm::world();
  expect_exact(comm, Model(comm, {{33, 17, 1}, {true, true, true}}, 16, test::full));  // last boxes one cell wide
  expect_exact(comm, Model(comm, {{1, 1, 70}, {true, true, false}}, 8, test::full));
  expect_exact(comm, Model(comm, {{16, 16, 16}, {true, true, true}}, 16, test::full));  // one box
  expect_exact(comm,
               Model(comm, {{1, 1, 1}, {true, true, true}}, 8, test::full));  // one cell, six times its own neighbour
}

TEST(HaloExchangeMpi, ExactWithPrunedBoxes) {
  const Comm comm = Comm::world();
  const Model model(comm, {{64, 48, 16}, {true, false, true}}, 8, [](const Index& c) {
    const int x = c[0] - 32, y = c[1] - 24;
    return x * x + y * y < 15 * 15 ? 1 : 0;
  });
  EXPECT_LT(model.layout.n_boxes(), 8 * 6 * 2);
  expect_exact(comm, model);
}

// The neighbour across a side is the cell next to it, wrapped at periodic sides: seen through values alone.
TEST(HaloExchangeMpi, NeighbourValuesAreThoseOfTheNextCell) {
  const Comm comm = Comm::world();
  const Model model(comm, {{20, 12, 1}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  Field x(graph);
  HaloExchange exchange(comm, graph);
  fill_own(model, graph, x, 0.0);
  exchange(x);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for_each_vof(g, [&](int, int cell, const std::array<std::uint16_t, 6>& neighbours) {
      for (int side = 0; side < 6; ++side) {
        const Index n = model.wrapped(g.cells.cell(cell) + side_offset(side));
        EXPECT_EQ(x.box(b)[neighbours[static_cast<std::size_t>(side)]], model.value(model.name(n, 0)));
      }
    });
  }
}

TEST(HaloExchangeMpi, InteriorBoxesAreCompleteBeforeFinish) {
  const Comm comm = Comm::world();
  const Model model(comm, {{64, 16, 16}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  HaloExchange exchange(comm, graph);
  Field x(graph);
  fill_own(model, graph, x, 0.0);
  exchange.begin(x);
  for (const int b : exchange.interior()) {
    const BoxGraph g = graph.box(b);
    for (int slot = 0; slot < g.closed(); ++slot)
      EXPECT_EQ(x.box(b)[static_cast<std::size_t>(slot)], model.value(g.name(slot)));
  }
  exchange.finish();
  EXPECT_EQ(static_cast<int>(exchange.interior().size() + exchange.boundary().size()), graph.n_local());
  EXPECT_EQ(comm.size() == 1, exchange.boundary().empty());
  EXPECT_EQ(comm.size() > 1, exchange.bytes_sent() > 0);
  expect_filled(model, graph, x, 0.0);
}

TEST(HaloExchangeMpi, FloatFields) {
  const Comm comm = Comm::world();
  const Model model = test::random_model(comm, {{20, 17, 9}, {true, false, false}}, 8, 14);
  const LevelGraph graph = model.build(comm);
  FloatField x(graph, 2);
  FloatHaloExchange exchange(comm, graph, 2);
  fill_own(model, graph, x, 0.25);
  exchange(x);
  expect_filled(model, graph, x, 0.25);
}

TEST(HaloExchangeMpi, AllocatesNoArraysAfterItIsMade) {
  const Comm comm = Comm::world();
  const Model model(comm, {{32, 32, 8}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  Field x(graph);
  HaloExchange exchange(comm, graph);
  const std::int64_t before = arena::bytes_now(Purpose::buffers);
  for (int round = 0; round < 10; ++round) exchange(x);
  EXPECT_EQ(arena::bytes_now(Purpose::buffers), before);
}

TEST(HaloExchange, MisuseIsNamed) {
  const Comm comm = Comm::self();
  const Model model(comm, {{8, 8, 8}, {}}, 8, test::full);
  const LevelGraph graph = model.build(comm), other = model.build(comm);
  HaloExchange exchange(comm, graph, 2);
  Field x(graph), u(graph, 3), stranger(other);
  EXPECT_THROW(exchange.finish(), Error);
  EXPECT_THROW(exchange.begin(u), Error);
  EXPECT_THROW(exchange.begin(stranger), Error);
  exchange.begin(x);
  EXPECT_THROW(exchange.begin(x), Error);
  exchange.finish();
  EXPECT_THROW(HaloExchange(comm, graph, 0), Error);
  EXPECT_THROW(Field(graph, 0), Error);
}

TEST(Field, ClosedSlotsStayZero) {
  const Model model = test::random_model(Comm::self(), {{20, 9, 9}, {}}, 8, 15);
  const LevelGraph graph = model.build(Comm::self());
  Field x(graph, 2);
  x.fill(3.0);
  for (int b = 0; b < graph.n_local(); ++b)
    for (int c = 0; c < 2; ++c) {
      EXPECT_EQ(x.box(b, c).back(), 0.0);
      for (const double v : x.box(b, c).first(x.box(b, c).size() - 1)) EXPECT_EQ(v, 3.0);
    }
}

// Σ over own VoFs only: halo slots are not counted twice.
TEST(FieldMpi, NormsOverOwnVofs) {
  const Comm comm = Comm::world();
  const Model model(comm, {{40, 24, 8}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  Field x(graph), y(graph);
  x.fill(2.0);
  y.fill(-0.5);
  EXPECT_EQ(dot(comm, x, y), -1.0 * 40 * 24 * 8);
  EXPECT_EQ(max_norm(comm, y), 0.5);
  EXPECT_EQ(comm.sum(local_sum(x)), 2.0 * 40 * 24 * 8);
}

TEST(Field, DotDoesNotDependOnThreads) {
  const Model model(Comm::self(), {{64, 64, 32}, {}}, 8, test::full);
  const LevelGraph graph = model.build(Comm::self());
  Field x(graph);
  fill_own(model, graph, x, 0.1);
  const int threads = n_threads();
  set_n_threads(1);
  const double one = local_dot(x, x);
  set_n_threads(3);
  EXPECT_EQ(local_dot(x, x), one);
  set_n_threads(threads);
}

TEST(Field, MaxNormShowsNan) {
  const Model model(Comm::self(), {{8, 8, 8}, {}}, 8, test::full);
  const LevelGraph graph = model.build(Comm::self());
  Field x(graph);
  x.own(0)[100] = std::nan("");
  EXPECT_TRUE(std::isnan(local_max_norm(x)));
}

}  // namespace
}  // namespace karst
