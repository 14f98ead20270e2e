// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/feedback_balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/core/traffic.hpp"
#include "grid/layout_builder.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::feedback_balance_test {
namespace {

constexpr double usual = 1.0, slow = 3.0;  ///< busy times of a stretch [s]: rank 0 has the latter

BuiltLayout boxes(const Comm& comm) {
  return build_layout(comm, {{64, 64, 64}, {}}, 8, [](const Box&) { return 1.0; });  // 512 of them
}

/// An amount of 1 for each own box.
std::vector<double> one_per_box(const Comm& comm, const Layout& layout) {
  const auto [first, last] = layout.owned(comm.rank());
  return std::vector<double>(last - first, 1.0);
}

BalanceLook look(const Comm& comm, const Layout& layout, double begin, double end, double move_seconds) {
  const double busy = comm.rank() == 0 ? slow : usual;
  const BoxWork cells{{one_per_box(comm, layout)}, busy};
  const Layout* const layouts = &layout;
  constexpr int steps = 4;
  RankWork work;
  add_steps(work, std::span(&cells, 1), steps, 0.0);
  BoxCosts costs;
  return look_at(comm, std::span(&layouts, 1), std::span(&cells, 1), work, {steps, begin, end, busy}, 10, move_seconds,
                 costs);
}

/// Equal boxes on n ranks, the first three times as slow: shares of 1 / 3 to 1 make all take n / (n - 2 / 3), to one
/// box. The rest of the run is as long as four stretches, wherever it began: a tenth of it from 0.5 on.
TEST(FeedbackBalanceMpi, TheGainIsThatOfTheRestOfTheRun) {
  const Comm comm = Comm::world();
  const BuiltLayout built = boxes(comm);
  const double n = comm.size(), box = slow * n / 512.0;
  const BalanceLook found = look(comm, built.layout, 0.5, 0.6, 0.0);
  EXPECT_EQ(found.step, 10);
  if (comm.size() == 1) {
    EXPECT_EQ(found.imbalance, 1.0);
    EXPECT_NEAR(found.gain, 0.0, 1e-9);
    EXPECT_FALSE(found.pays);
    return;
  }
  EXPECT_NEAR(found.imbalance, slow * n / (slow + (n - 1.0) * usual), 1e-12);
  EXPECT_LT(found.expected, 1.05);
  EXPECT_NEAR(found.gain, 4.0 * (slow - n / (n - 2.0 / 3.0)), 4.0 * box);
  EXPECT_NEAR(look(comm, built.layout, 0.0, 0.2, 0.0).gain, found.gain, 1e-9);
  EXPECT_NEAR(look(comm, built.layout, 0.5, 0.75, 0.0).gain, 0.25 * found.gain, 1e-9);
  EXPECT_NEAR(look(comm, built.layout, 0.9, 1.0, 0.0).gain, 0.0, 1e-12);
}

/// A move pays from 1.5 times its price on, that of the slowest rank.
TEST(FeedbackBalanceMpi, AMoveHasToPay) {
  const Comm comm = Comm::world();
  const BuiltLayout built = boxes(comm);
  const double gain = look(comm, built.layout, 0.5, 0.6, 0.0).gain;
  if (comm.size() == 1) return;
  for (const double price : {0.66, 0.67}) {
    const double mine = comm.rank() == comm.size() - 1 ? price * gain : 0.0;
    const BalanceLook found = look(comm, built.layout, 0.5, 0.6, mine);
    EXPECT_EQ(found.pays, price < 2.0 / 3.0);
    EXPECT_NEAR(found.move_seconds, price * gain, 1e-12);
  }
}

/// Half of the sample is dense, and reacts: what its boxes cost is not known well, neither of all together nor of each;
/// the last rank is slow. After two looks none works 1.05 times as long as the mean.
TEST(FeedbackBalanceMpi, TwoLooksAreEnough) {
  const Comm comm = Comm::world();
  const Domain domain{{96, 48, 48}, {}};
  const auto all = [](const Box&) { return 1.0; };
  const auto is_dense = [](const Box& box) { return box.lo[0] < 48; };
  const auto scatter = [](const Box& box) {
    return 0.85 + 0.3 * ((box.lo[0] + 3 * box.lo[1] + 5 * box.lo[2]) / 8 % 7) / 6.0;
  };
  BuiltLayout built = build_layout(comm, domain, 8, all);
  for (const double slowness : {1.0, 2.0, 4.0}) {
    double imbalance = 0.0;
    for (int looks = 0; looks <= 2; ++looks) {
      const auto [first, last] = built.layout.owned(comm.rank());
      const double pace = comm.rank() == comm.size() - 1 ? slowness : 1.0;
      BoxWork cells{{{}}, 0.0}, sites{{{}}, 0.0};
      for (std::int64_t b = first; b < last; ++b) {
        const Box box = built.layout.box(b);
        cells.amount[0].push_back(is_dense(box) ? 1500.0 : 500.0);
        cells.seconds += 1e-6 * pace * scatter(box) * (is_dense(box) ? 1250.0 : 500.0);
        sites.amount[0].push_back(is_dense(box) ? 600.0 : 0.0);
        sites.seconds += 4e-6 * pace * scatter(box) * sites.amount[0].back();
      }
      const Layout* const layouts = &built.layout;
      const BalanceStretch stretch{2, 0.0, 0.1, cells.seconds + sites.seconds};
      const std::array kinds{cells, sites};
      RankWork work;
      add_steps(work, kinds, stretch.steps, 0.0);
      BoxCosts costs;
      imbalance = look_at(comm, std::span(&layouts, 1), kinds, work, stretch, 3, 0.0, costs).imbalance;
      built = build_layout(comm, domain, 8, all, costs);
    }
    EXPECT_LT(imbalance, 1.05) << slowness;
  }
}

/// What other kinds of work took in the first step of a pass, as long as nothing else here, is in no cost.
TEST(FeedbackBalanceMpi, TheFirstStepIsLeftOutOfAllKinds) {
  const Comm comm = Comm::world();
  const BuiltLayout built = boxes(comm);
  const Layout* const layouts = &built.layout;
  const std::vector<double> ones = one_per_box(comm, built.layout);
  const BoxWork sites{{ones}, 1e6};
  FeedbackBalance balance(comm);
  balance.begin_pass();
  for (int step = 1; !balance.due(); ++step) {
    balance.begin_step(0.0);
    balance.end_step();
    EXPECT_EQ(balance.begins(), step == 1);
    if (balance.begins()) balance.leave_out(std::span(&sites, 1));
  }
  BoxCosts costs;
  balance.look(std::span(&layouts, 1), {ones}, std::span(&sites, 1), 0.01, 3, costs);
  EXPECT_LT(*std::ranges::max_element(costs.cost[0]), 1e3);
}

/// What a pass takes until its first step is the price of a move, but for solves, which are read then; where ranks
/// share processors, only what they work.
TEST(FeedbackBalanceMpi, AMoveCostsWhatIsWorkedBeforeTheFirstStep) {
  const Comm comm = Comm::world();
  const BuiltLayout built = boxes(comm);
  const Layout* const layouts = &built.layout;
  const std::vector<double> ones = one_per_box(comm, built.layout);
  const auto price = [&](double solves) {
    FeedbackBalance balance(comm);
    balance.begin_pass();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    balance.add_solves(solves);
    while (!balance.due()) {
      balance.begin_step(0.0);
      balance.end_step();
    }
    BoxCosts costs;
    return balance.look(std::span(&layouts, 1), {ones}, {}, 0.01, 3, costs).move_seconds;
  };
  EXPECT_GE(price(0.0), 0.2);
  EXPECT_EQ(price(1e6), 0.0);
  count_processor_time(true);
  EXPECT_LT(price(0.0), 0.15);
  count_processor_time(false);
}

/// Of two levels, some boxes covered in part: each VoF that no finer level covers counts in its own box.
TEST(FeedbackBalanceMpi, SumsOfBoxesAreOfTheirUnknowns) {
  const Comm comm = Comm::world();
  const GridOptions grid = test::refined_in(test::flow_grid(Index::all(16), {}), 1, {5, 0, 3}, {13, 11, 12});
  const auto composite = test::composite_of(comm, grid, *test::packing(14, 3.3, 16, false, 3));
  const CompositeNumbering& numbering = composite->numbering();
  std::vector<double> values(numbering.n_own());
  std::iota(values.begin(), values.end(), 1.0);
  const auto sums = sums_of_boxes(numbering, composite->geometry(), values);
  ASSERT_EQ(std::ssize(sums), 2);
  for (int l = 0; l < 2; ++l) {
    const LevelGraph& graph = composite->level(l).graph;
    ASSERT_EQ(std::ssize(sums[l]), graph.n_local());
    for (int b = 0; b < graph.n_local(); ++b) {
      double sum = 0.0;
      for (int vof = 0; vof < graph.box(b).n_own; ++vof)
        if (const std::int32_t n = numbering.number(l, b, vof); n >= 0) sum += values[n];
      EXPECT_EQ(sums[l][b], sum) << "level " << l << ", box " << b;
    }
  }
}

/// After the first step of a pass, which is left out, 2 steps, 2 and 2 again, then 4, 8 ...; a move does not shorten
/// them.
TEST(FeedbackBalanceMpi, LooksComeAfterStretchesThatGrow) {
  const Comm comm = Comm::world();
  const BuiltLayout built = boxes(comm);
  const Layout* const layouts = &built.layout;
  const auto [first, last] = built.layout.owned(comm.rank());
  FeedbackBalance balance(comm);
  std::vector<int> looked;
  for (int pass = 0; pass < 2; ++pass) {
    balance.begin_pass();
    for (int step = 1; step <= 29; ++step) {
      balance.begin_step(0.01 * (step - 1));
      balance.end_step();
      if (!balance.due()) continue;
      looked.push_back(step);
      BoxCosts costs;
      const std::vector<double> cells(last - first, 1.0);
      balance.look(std::span(&layouts, 1), {cells}, {}, 0.01 * step, step, costs);
    }
  }
  EXPECT_EQ(looked, (std::vector{3, 5, 7, 11, 19, 17}));
  EXPECT_EQ(std::ssize(balance.looks()), 6);
}

/// The last rank takes three times as long before the third look alone: that sees all of it, the fourth half of these
/// two steps beside four as usual.
TEST(FeedbackBalanceMpi, LooksAfterTheShortOnesRememberWhatWasBefore) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) return;
  const BuiltLayout built = boxes(comm);
  const Layout* const layouts = &built.layout;
  const std::vector<double> ones = one_per_box(comm, built.layout);
  FeedbackBalance balance(comm);
  balance.begin_pass();
  BoxWork sites{{ones}, 0.0};
  std::vector<double> times_as_slow;
  for (int step = 1; times_as_slow.size() < 4; ++step) {
    balance.begin_step(0.01 * (step - 1));
    balance.end_step();
    if (balance.begins()) balance.leave_out(std::span(&sites, 1));
    if (step == 1) continue;
    const bool slow_for_once = times_as_slow.size() == 2 && comm.rank() == comm.size() - 1;
    sites.seconds += 1e6 * static_cast<double>(ones.size()) * (slow_for_once ? 3.0 : 1.0);
    if (!balance.due()) continue;
    BoxCosts costs;
    balance.look(std::span(&layouts, 1), {ones}, std::span(&sites, 1), 0.01 * step, step, costs);
    times_as_slow.push_back(costs.slowness.back() / costs.slowness.front());
  }
  const std::array wanted{1.0, 1.0, 3.0, (0.5 * 2.0 * 3.0 + 4.0) / (0.5 * 2.0 + 4.0)};
  for (std::size_t look = 0; look < wanted.size(); ++look) EXPECT_NEAR(times_as_slow[look], wanted[look], 1e-4) << look;
}

}  // namespace
}  // namespace karst::feedback_balance_test
