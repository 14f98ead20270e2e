// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reaction_items.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/errors.hpp"
#include "support/reactive_cases.hpp"
#include "support/scalar_cases.hpp"

namespace karst::reaction_items_test {
namespace {

/// Acid diffuses to a wall that it dissolves, and through dust that it uses up; steps of changing length.
struct Reactions {
  explicit Reactions(const Comm& comm)
      : acid(test::water(test::linear_database(), "charge", {"X 1e-2", "M 0"})),
        medium(make_medium(acid.system, {make_surface_reaction(acid.system, {"MOH", "MOH", 0.0, 0.0, {"3e2 H+ 1"}})},
                           acid.state)),
        stepper(test::composite_of(comm, test::flow_grid({16, 8, 2}, {true, false, true}, 8), walls()), components()),
        state(stepper.make_state()) {
    FaceField flow(stepper.grid().composite);
    stepper.set_flow(flow);
    for (std::size_t p = 0; p < state.values.size(); ++p)
      stepper.set_values(state, p, [&](const Vec3& x) { return test::totals_of(acid)[p] * (1.0 + 0.01 * x[0]); });
    wall = wall_sites(stepper.grid(), 1, {1.0, 1.0, 1000.0, true, fixed_sides(components()[0])},
                      [](const WallPiece&, auto f) { f[0] = 1.0; });
    at_wall = start_reaction(medium, wall);
    const double area = 1e-3, amount = 1e-4;
    dust = volume_sites(stepper.grid(), {&area, 1}, {&amount, 1});
    of_dust = start_reaction(medium, dust);
  }
  static constexpr int n_steps = 9;
  static test::DistanceFunction walls() {
    return test::DistanceFunction([](const Vec3& x) { return x[1] - 5.37 - 0.05 * x[0]; });
  }
  std::vector<ScalarComponent> components() const {
    std::vector<ScalarComponent> all = test::components_of(acid.system, 1.0);
    const std::vector<double> totals = test::totals_of(acid);
    for (std::size_t p = 0; p < all.size(); ++p) {
      const double c = totals[p];
      all[p].sides[3] = {ScalarSide::Kind::fixed, [c](const Vec3&, double) { return c; }};
    }
    return all;
  }
  /// Long ones are coupled; in the last of them hardly anything changes.
  void steps(int begin, int end) {
    constexpr std::array<double, n_steps> dt{0.1, 0.1, 3.0, 0.1, 0.1, 9.0, 5.0, 5.0, 0.2};
    const ReactionOptions options{.skip = 0.01};
    for (std::size_t i = begin; i < static_cast<std::size_t>(end); ++i) {
      ReactionReport report;
      if (dt[i] > 1.0) {
        advance_coupled({medium, wall, 0, options}, stepper, dt[i], at_wall, state, coupled, moved, report);
      } else {
        stepper.advance(state, dt[i], moved);
        react(medium, wall, stepper.grid(), dt[i], options, at_wall, state.values, report);
        for (std::size_t p = 0; p < state.values.size(); ++p) stepper.take_changes(state, p);
      }
      last = report.dissolved;
      kept += report.kept;
      react(medium, dust, stepper.grid(), dt[i], options, of_dust, state.values, report);
      for (std::size_t p = 0; p < state.values.size(); ++p) stepper.take_changes(state, p);
      kept += report.kept;
    }
  }
  VofSet unknowns() const {
    const Composite& grid = *stepper.grid().composite;
    return unknowns_of(grid.geometry(), grid.numbering());
  }
  State items() const {
    State all;
    add_items(medium, wall, unknowns(), "wall", at_wall, &coupled, all);
    add_items(medium, dust, unknowns(), "dust", of_dust, nullptr, all);
    return all;
  }
  void go_on(const Reactions& from) {
    const auto n_own = stepper.grid().n_own;
    for (std::size_t p = 0; p < state.values.size(); ++p)
      stepper.set_values(state, p, from.state.values[p].span().first(n_own));
    state.range = from.state.range;
    state.time = from.state.time;
    const State all = from.items();
    take_items(all, medium, wall, unknowns(), "wall", at_wall, &coupled);
    take_items(all, medium, dust, unknowns(), "dust", of_dust, nullptr);
  }

  Solution acid;
  ReactiveMedium medium;
  TransportStepper stepper;
  TransportState state;
  ReactiveSites wall, dust;
  ReactionState at_wall, of_dust;
  CoupledScratch coupled;
  TransportReport moved;
  std::vector<double> last;
  std::int64_t kept = 0;
};

// The same bits, after steps in turn and coupled ones, with sites that keep their rates.
TEST(ReactionItemsMpi, GoesOnWithTheSameBits) {
  const PetscSession petsc;
  const Comm comm = Comm::world();
  for (const int stop : {1, 3, 7}) {
    Reactions whole(comm), rest(comm);
    whole.steps(0, stop);
    rest.go_on(whole);
    const std::int64_t before = whole.kept;
    whole.steps(stop, Reactions::n_steps);
    rest.steps(stop, Reactions::n_steps);
    EXPECT_EQ(rest.last, whole.last);
    EXPECT_EQ(rest.kept, whole.kept - before);
    EXPECT_GT(rest.kept, 0);
    EXPECT_EQ(rest.of_dust.amount, whole.of_dust.amount);
    EXPECT_EQ(rest.coupled.counts.in_turn, 0);
    for (std::size_t p = 0; p < whole.state.values.size(); ++p)
      for (std::size_t v = 0; v < static_cast<std::size_t>(whole.stepper.grid().n_own); ++v)
        ASSERT_EQ(rest.state.values[p][v], whole.state.values[p][v]) << "from step " << stop;
  }
}

TEST(ReactionItems, ThoseOfOtherSitesAreRefused) {
  const PetscSession petsc;
  Reactions run(Comm::self());
  EXPECT_TRUE(run.at_wall.amount.empty());  // walls do not end: nothing is left of them
  State state;
  add_items(run.medium, run.wall, run.unknowns(), "sites", run.at_wall, nullptr, state);
  EXPECT_PRED2(test::has, test::error_of([&] {
                 take_items(state, run.medium, run.dust, run.unknowns(), "sites", run.of_dust, nullptr);
               }),
               "which are not the");
}

}  // namespace
}  // namespace karst::reaction_items_test
