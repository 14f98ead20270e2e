// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "support/token.hpp"
#include "unit/grid/model.hpp"

namespace karst::halo_exchange_test {
namespace {

using test::Model;

template <class T>
void fill_own(const Model& model, const LevelGraph& graph, BasicField<T>& x, double shift) {
  for (int b = 0; b < graph.n_local(); ++b)
    for (int c = 0; c < x.n_components(); ++c)
      for (int v = 0; v < x.slots()->n_own(b); ++v)
        x.own(b, c)[v] = static_cast<T>(model.value(vof_name(graph.first_box() + b, v)) + shift + c);
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
        ASSERT_EQ(x.box(b, c)[slot], expected) << "box " << g.box << " slot " << slot;
      }
  }
}

void expect_exact(const Comm& comm, const Model& model) {
  const LevelGraph graph = model.build(comm);
  Field p(graph), u(graph, 3);
  HaloExchange<double> exchange(comm, graph);
  for (const double shift : {0.0, 0.5, 7.0}) {
    fill_own(model, graph, p, shift);
    fill_own(model, graph, u, -shift);
    exchange.for_boxes({&p, &u}, [](int) {});
    expect_filled(model, graph, p, shift);
    expect_filled(model, graph, u, -shift);
  }
}

bool always(const Index&, int, int, int) { return true; }

TEST(HaloExchangeMpi, ExactOnRandomGraphs) {
  const Comm comm = Comm::world();
  expect_exact(comm, test::random_model(comm, {{20, 17, 9}, {false, true, false}}, 8, 11));
  expect_exact(comm, test::random_model(comm, {{33, 19, 1}, {true, false, true}}, 16, 12));
  expect_exact(comm, test::random_model(comm, {{20, 17, 9}, {true, true, true}}, 8, 13));
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
  HaloExchange<double> exchange(comm, graph);
  fill_own(model, graph, x, 0.0);
  exchange(x);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for_each_vof(g, [&](int, int cell, const std::array<std::uint16_t, 6>& neighbours) {
      for (int side = 0; side < 6; ++side) {
        const Index n = model.wrapped(g.cells.cell(cell) + side_offset(side));
        EXPECT_EQ(x.box(b)[neighbours[side]], model.value(model.name(n, 0)));
      }
    });
  }
}

// A box is handed out once, when its halo is complete.
TEST(HaloExchangeMpi, BoxesAreCompleteWhenTheirTurnComes) {
  const Comm comm = Comm::world();
  const Model model(comm, {{64, 16, 16}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  HaloExchange<double> exchange(comm, graph);
  Field x(graph);
  std::vector<int> turns(graph.n_local(), 0);
  std::vector<std::uint8_t> complete(turns.size(), 0);
  for (const double shift : {0.0, 0.5, 7.0}) {
    fill_own(model, graph, x, shift);
    exchange.for_boxes(x, [&](int b) {
      const BoxGraph g = graph.box(b);
      bool all = true;
      for (int slot = 0; slot < g.closed(); ++slot) all = all && x.box(b)[slot] == model.value(g.name(slot)) + shift;
      complete[b] = all;
      ++turns[b];
    });
    EXPECT_EQ(std::ranges::count(complete, 0), 0);
  }
  EXPECT_EQ(std::ranges::count(turns, 3), graph.n_local());
}

// What travels is what the halos of other ranks hold, in one message per pair of ranks and round.
TEST(HaloExchangeMpi, SendsEachRemoteHaloVofOnce) {
  const Comm comm = Comm::world();
  const Model model(comm, {{64, 16, 16}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  std::int64_t n_remote = 0;
  std::set<std::pair<int, int>> pairs;
  for (int b = 0; b < graph.n_local(); ++b) {
    const HaloNames halo = graph.box(b).halo;
    for (int i = 0; i < halo.n_vofs(); ++i) {
      const int owner = graph.layout().owner(box_of(halo[i]));
      if (owner == comm.rank()) continue;
      ++n_remote;
      pairs.emplace(owner, comm.rank());
    }
  }
  HaloExchange<float> exchange(comm, graph);
  FloatField x(graph, 2);
  exchange(x);
  exchange(x);
  EXPECT_EQ(comm.sum(exchange.bytes_sent()), 2 * 2 * 4 * comm.sum(n_remote));
  EXPECT_EQ(comm.sum(exchange.messages_sent()), 2 * comm.sum(std::ssize(pairs)));
  EXPECT_EQ(comm.size() > 1, n_remote > 0);
}

// Ranks in a row; one in the middle starts only when its lower neighbour has worked on a box that needs nothing of it.
TEST(HaloExchangeMpi, BoxesDoNotWaitForMessagesOfOthers) {
  const Comm comm = Comm::world();
  if (comm.size() < 3 || n_threads() > 1) return;
  const Model model(comm, {{128, 8, 8}, {false, false, false}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  HaloExchange<double> exchange(comm, graph);
  Field x(graph);
  const bool told = comm.rank() != 2 || test::wait_for_token(comm, 1, std::chrono::seconds(3));
  exchange.for_boxes(x, [&](int b) {
    if (comm.rank() == 1 && b == 0) test::send_token(comm, 2);
  });
  if (comm.rank() == 2) test::take_token(comm, 1);
  EXPECT_TRUE(told);
  EXPECT_EQ(graph.halo_plan().boundary.size(), comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1U : 2U);
}

TEST(HaloExchangeMpi, FloatFields) {
  const Comm comm = Comm::world();
  const Model model = test::random_model(comm, {{20, 17, 9}, {true, false, false}}, 8, 14);
  const LevelGraph graph = model.build(comm);
  FloatField x(graph, 2);
  HaloExchange<float> exchange(comm, graph);
  fill_own(model, graph, x, 0.25);
  exchange(x);
  expect_filled(model, graph, x, 0.25);
}

// Integers travel as they are: names of VoFs plus 2^60 would not survive as doubles.
TEST(HaloExchangeMpi, IntegerFields) {
  const Comm comm = Comm::world();
  const Model model = test::random_model(comm, {{20, 17, 9}, {true, false, true}}, 8, 16);
  const LevelGraph graph = model.build(comm);
  constexpr std::int64_t large = std::int64_t{1} << 60;
  NumberField names(graph);
  ByteField bytes(graph);
  for (int b = 0; b < graph.n_local(); ++b)
    for (std::size_t v = 0; v < names.own(b).size(); ++v) {
      const VofName name = vof_name(graph.first_box() + b, static_cast<int>(v));
      names.own(b)[v] = large + static_cast<std::int64_t>(name);
      bytes.own(b)[v] = static_cast<std::uint8_t>(name % 251);
    }
  fill_halo(comm, graph, names);
  fill_halo(comm, graph, bytes);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for (int slot = 0; slot < g.n_slots(); ++slot) {
      const VofName name = g.name(slot);
      const std::size_t at = slot;
      ASSERT_EQ(names.box(b)[at], is_vof(name) ? large + static_cast<std::int64_t>(name) : 0);
      ASSERT_EQ(bytes.box(b)[at], is_vof(name) ? name % 251 : 0);
    }
  }
}

TEST(HaloExchangeMpi, AllocatesNoArraysAfterTheFirstRound) {
  const Comm comm = Comm::world();
  const Model model(comm, {{32, 32, 8}, {true, true, true}}, 8, test::full);
  const LevelGraph graph = model.build(comm);
  Field x(graph), u(graph, 3);
  HaloExchange<double> exchange(comm, graph);
  exchange(u);
  const std::int64_t before = arena::bytes_now(Purpose::buffers);
  for (int round = 0; round < 5; ++round) {
    exchange(x);
    exchange(u);
  }
  EXPECT_EQ(arena::bytes_now(Purpose::buffers), before);
}

TEST(HaloExchange, MisuseIsNamed) {
  const Comm comm = Comm::self();
  const Model model(comm, {{8, 8, 8}, {}}, 8, test::full);
  const LevelGraph graph = model.build(comm), other = model.build(comm);
  HaloExchange<double> exchange(comm, graph);
  Field stranger(other);
  EXPECT_THROW(exchange(stranger), Error);
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
}  // namespace karst::halo_exchange_test
