// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/coupled_step.hpp"
#include "transport/reactive/reaction_step.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/reactive_cases.hpp"
#include "support/scalar_cases.hpp"

namespace karst::reaction_test {
namespace {

class ReactionTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

std::shared_ptr<const Composite> open_box(const Comm& comm, const Index& cells, int box = 16) {
  const test::DistanceFunction nothing([](const Vec3&) { return 1e3; });
  return test::composite_of(comm, test::flow_grid(cells, {false, true, true}, box), nothing);
}

ReactiveMedium calcite_in(const Solution& s, std::vector<std::string> rates) {
  return make_medium(s.system, {make_surface_reaction(s.system, {"calcite", "Calcite", 0.0, 0.0, std::move(rates)})},
                     s.state);
}

void set_solution(TransportStepper& stepper, TransportState& state, const Solution& s) {
  const std::vector<double> totals = test::totals_of(s);
  for (std::size_t p = 0; p < totals.size(); ++p)
    stepper.set_values(state, p, [c = totals[p]](const Vec3&) { return c; });
}

double total_in(const TransportStepper& stepper, const TransportState& state, std::size_t p) {
  double sum = 0.0;
  for (std::size_t v = 0; v < static_cast<std::size_t>(stepper.grid().n_own); ++v)
    sum += stepper.grid().volume[v] * state.values[p][v];
  return stepper.grid().composite->comm().sum(sum);
}

// verification.md G3 and G4: water at rest with calcite in it is the batch reaction; elements and charge stay.
TEST_F(ReactionTest, ClosedBoxIsTheBatchReactionMpi) {
  const Solution acid = test::water(shipped(), "2.0", {"Cl 0.0112 charge", "Ca 1e-30", "C(4) 1e-30"});
  const ReactiveMedium medium = calcite_in(acid, {"0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"});
  TransportStepper stepper(open_box(comm_, {6, 2, 2}, 8), test::components_of(acid.system, 0.0));
  TransportState state = stepper.make_state();
  set_solution(stepper, state, acid);
  const double area = 0.1, amount = 5e-3;
  const ReactiveSites sites = volume_sites(stepper.grid(), {&area, 1}, {&amount, 1});
  ReactionState reaction = start_reaction(medium, sites);
  ReactionReport report;
  const std::size_t n = state.values.size();
  double charge = 0.0, dissolved = 0.0, error = 0.0, last = 0.0;
  std::vector<double> before(n), gained(n, 0.0);
  for (std::size_t p = 0; p < n; ++p) before[p] = total_in(stepper, state, p);
  for (double t = 0.0; t < 9.0; t += last) {
    last = std::min(std::max(2e-3, 0.02 * t), 9.0 - t);
    react(medium, sites, stepper.grid(), last, {}, reaction, state.values, report);
    dissolved += report.dissolved[0] / 24.0;
    error += report.time_error[0] / 24.0;
    for (std::size_t p = 0; p < n; ++p) gained[p] += report.gained[p];
  }
  EXPECT_NEAR(dissolved, 4.209e-3, 0.01 * 4.209e-3);
  // What the step leaves is what it says, within a factor of two.
  EXPECT_NEAR(error, 4.209e-3 - dissolved, 0.5 * error);
  for (std::size_t p = 0; p < n; ++p) {
    EXPECT_NEAR(total_in(stepper, state, p), before[p] + gained[p], 1e-12 * 24.0 * 0.0112) << p;
    charge += medium.system.species[p].charge * total_in(stepper, state, p);
  }
  EXPECT_LT(std::abs(charge), 1e-12 * 24.0 * 0.0224);
  const double left = comm_.sum(reaction.amount.empty() ? 0.0 : reaction.amount[0]);
  EXPECT_GT(left, 0.0);
  // All of it goes, and no more.
  react(medium, sites, stepper.grid(), 1e5, {}, reaction, state.values, report);
  for (const double a : reaction.amount) EXPECT_EQ(a, 0.0);
  EXPECT_NEAR(error + report.time_error[0] / 24.0, 0.0, 1e-15);  // so nothing is uncertain any more
  const std::size_t ca = medium.system.primary_of("Ca");
  EXPECT_NEAR(total_in(stepper, state, ca), 24.0 * 5e-3, 1e-12);
}

/// Totals in H+ and HCO3-.
Solution column_water(double h, double carbon, double calcium) {
  Solution s = test::water(test::crunch_database(), "7", {"Ca 1e-4", "C 1e-3"});
  for (int p = 0; p < s.system.n_primaries; ++p) {
    const std::string& e = s.system.elements[p];
    s.conditions[p] = {SolutionCondition::Kind::total, e == "H" ? h : (e == "Ca" ? calcium : carbon)};
  }
  SpeciationWorkspace work;
  EXPECT_TRUE(speciate(s.system, s.conditions, s.state, work));
  return s;
}

// verification.md G7: a column of calcite against CrunchFlow.
TEST_F(ReactionTest, CalciteColumn) {
  const double year = 365.25 * 86400.0, velocity = 7.927448e-9 / 0.25;
  const Solution inlet = column_water(9.66128e-4, 1.0e-3, 1.69361e-5);
  const Solution start = column_water(1.73865e-5, 1.70986e-3, 5.65435e-4);
  EXPECT_NEAR(ph_of(inlet.state), 5.0, 0.01);
  EXPECT_NEAR(ph_of(start.state), 8.0, 0.01);
  const ReactiveMedium medium = calcite_in(start, {"1e-9"});
  std::vector<ScalarComponent> components = test::components_of(start.system, 1e-9);
  const std::vector<double> coming_in = test::totals_of(inlet);
  for (std::size_t p = 0; p < components.size(); ++p) {
    const double c = coming_in[p];
    components[p].sides[0].value = [c](const Vec3&, double) { return c; };
  }
  TransportStepper stepper(open_box(comm_, {100, 1, 1}), components);
  FaceField flow(stepper.grid().composite);
  test::set_uniform(flow, {velocity, 0.0, 0.0});
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  set_solution(stepper, state, start);
  // A cubic metre of bulk holds 250 kg of water, 100 m² of calcite and 1e-5 m³ of it, of 36.934 cm³/mol.
  const double area = 100.0 / 250.0, amount = 1e-5 / 36.934e-6 / 250.0;
  const ReactiveSites sites = volume_sites(stepper.grid(), {&area, 1}, {&amount, 1});
  ReactionState reaction = start_reaction(medium, sites);
  ReactionReport reacted;
  TransportReport moved;
  const int steps = 100;
  const std::size_t n = components.size();
  std::vector<double> before(n), gained(n, 0.0), size(n, 0.0);
  for (std::size_t p = 0; p < n; ++p) before[p] = total_in(stepper, state, p);
  for (int i = 0; i < steps; ++i) {
    stepper.advance(state, 50.0 * year / steps, moved);
    react(medium, sites, stepper.grid(), 50.0 * year / steps, {}, reaction, state.values, reacted);
    for (std::size_t p = 0; p < n; ++p) {
      stepper.take_changes(state, p);
      gained[p] += moved.components[p].inflow - moved.components[p].outflow + reacted.gained[p];
      size[p] += moved.components[p].inflow;
    }
  }
  const auto at = [&](const char* element, std::size_t cell) {
    return state.values[medium.system.primary_of(element)][cell];
  };
  for (std::size_t p = 0; p < n; ++p)
    EXPECT_NEAR(total_in(stepper, state, p), before[p] + gained[p], 1e-12 * (before[p] + size[p])) << p;
  for (const std::size_t c : {24U, 26U, 30U, 35U}) {  // asked: 0.3 %; CrunchFlow at 25.5 m
    EXPECT_NEAR(at("H", c), 5.24791e-5, 1e-3 * 5.24791e-5);
    EXPECT_NEAR(at("C", c), 1.91363e-3, 1e-3 * 1.91363e-3);
    EXPECT_NEAR(at("Ca", c), 9.30602e-4, 1e-3 * 9.30602e-4);
  }
  // The front has come to the cell at 22.5 m.
  EXPECT_NEAR(at("Ca", 21), 1.69361e-5, 1e-8);
  EXPECT_GT(at("Ca", 22), 1e-4);
  EXPECT_EQ(reaction.amount[21], 0.0);
  EXPECT_GT(reaction.amount[23], 0.8 * amount);
}

// Between a side that holds an acid and a wall that it reacts with, at rest: c_0 / (L / D + 1 / k) goes through,
// whether film or rate decides.
struct Slab {
  double flux = 0.0, exact = 0.0;
  double imbalance = 0.0;  ///< of any total in any step, over what is there
  CoupledCounts counts;
  std::int64_t solved = 0, kept = 0;
};

/// @param steps  coupled ones
Slab slab(const Comm& comm, double rate, double step, bool coupled = false, double skip = 1e-7, int steps = 20) {
  const double c0 = 1e-2, wall = 0.37, length = 12.0 - wall, water = 1000.0;
  const Database& database = test::linear_database();
  const Solution acid = test::water(database, "charge", {"X 1e-2", "M 0"});
  const SurfaceReaction mineral =
      make_surface_reaction(acid.system, {"MOH", "MOH", 0.0, 0.0, {fmt::format("{} H+ 1", rate)}});
  const ReactiveMedium medium = make_medium(acid.system, {mineral}, acid.state);
  const double k = dissolution_rate(acid.system, acid.state, mineral.mineral) / c0 / water;
  Slab result;
  result.exact = c0 / (length + 1.0 / k);
  const test::DistanceFunction walls([=](const Vec3& x) { return x[1] - wall; });
  std::vector<ScalarComponent> components = test::components_of(acid.system, 1.0);
  const std::vector<double> totals = test::totals_of(acid);
  for (std::size_t p = 0; p < components.size(); ++p) {
    const double c = totals[p];
    components[p].sides[3] = {ScalarSide::Kind::fixed, [c](const Vec3&, double) { return c; }};
  }
  TransportStepper stepper(test::composite_of(comm, test::flow_grid({2, 12, 1}, {true, false, true}), walls),
                           components, {.tolerance = 1e-12});
  FaceField flow(stepper.grid().composite);
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  for (std::size_t p = 0; p < components.size(); ++p)
    stepper.set_values(state, p, [&](const Vec3& x) {
      const double lost = result.exact * (12.0 - x[1]);
      return totals[p] + (p == 0 ? -lost : (medium.system.elements[p] == "M" ? lost : 0.0));
    });
  const ReactiveSites sites = wall_sites(stepper.grid(), 1, {1.0, 1.0, water, true, fixed_sides(components[0])},
                                         [](const WallPiece&, std::span<double> f) { f[0] = 1.0; });
  ReactionState reaction = start_reaction(medium, sites);
  ReactionReport reacted;
  TransportReport moved;
  CoupledScratch scratch;
  for (double t = 0.0; t < std::max(coupled ? 60.0 : 15.0, (coupled ? steps : 4.0) * step); t += step) {
    std::vector<double> before;
    for (std::size_t p = 0; p < components.size(); ++p) before.push_back(total_in(stepper, state, p));
    if (coupled) {
      advance_coupled({medium, sites, 0, {skip}}, stepper, step, reaction, state, scratch, moved, reacted);
    } else {
      stepper.advance(state, step, moved);
      react(medium, sites, stepper.grid(), step, {skip}, reaction, state.values, reacted);
      for (std::size_t p = 0; p < components.size(); ++p) stepper.take_changes(state, p);
    }
    result.solved += reacted.solved;
    result.kept += reacted.kept;
    for (std::size_t p = 0; p < components.size(); ++p) {
      const ComponentBalance& b = moved.components[p];
      const double left = b.inflow - b.outflow + b.source + reacted.gained[p] + before[p] - total_in(stepper, state, p);
      result.imbalance = std::max(result.imbalance, std::abs(left) / (c0 * 24.0));
    }
  }
  result.counts = scratch.counts;
  result.flux = reacted.dissolved[0] / step / 2.0;
  return result;
}

// Rates of 0.1, 100 and 10^5 times D / h. Asked: the error of the midpoint, second order in dt; whatever the step,
// something reacts, and no more than can.
TEST_F(ReactionTest, WallsReactThroughTheFilmAloneByDay) {
  for (const double rate : {1e2, 1e5, 1e8}) {
    const Slab fine = slab(comm_, rate, 0.3), huge = slab(comm_, rate, 1000.0);
    EXPECT_NEAR(fine.flux, fine.exact, 2e-3 * fine.exact) << rate;
    EXPECT_GT(huge.flux, 0.0) << rate;
    EXPECT_LT(huge.flux, huge.exact) << rate;
  }
  EXPECT_NEAR(slab(Comm::self(), 1e5, 0.3).flux, slab(comm_, 1e5, 0.3).flux, 1e-12) << "ranks do not matter";
  const Slab finer = slab(comm_, 1e5, 0.1);
  EXPECT_NEAR(finer.flux, finer.exact, 3e-4 * finer.exact);
}

// Coupled, the steady flux is that of the closed form at any step.
void expect_flux(const Comm& comm, double rate, double step) {
  const Slab s = slab(comm, rate, step, true);
  EXPECT_NEAR(s.flux, s.exact, 1e-3 * s.exact) << rate << ' ' << step;
  EXPECT_LT(s.imbalance, 1e-12) << rate << ' ' << step;
  EXPECT_EQ(s.counts.in_turn, 0) << rate << ' ' << step;
}
TEST_F(ReactionTest, CoupledWallsAreRightAtAnyStepAloneByDay) { expect_flux(comm_, 1e8, 1000.0); }
TEST_F(ReactionTest, CoupledWallsAreRightAtAnyStepMpiAtNight) {
  for (const double rate : {1e2, 1e5, 1e8})
    for (const double step : {1.0, 10.0, 1000.0}) expect_flux(comm_, rate, step);
}

// Of the flux no more is off than what is skipped, and a wall whose water no longer changes is not solved again.
TEST_F(ReactionTest, CoupledWallsSkipWhatHardlyChangesAloneByDay) {
  const Slab all = slab(comm_, 1e5, 10.0, true, 0.0, 60), some = slab(comm_, 1e5, 10.0, true, 1e-4, 60);
  EXPECT_EQ(all.kept, 0);
  EXPECT_LT(3 * some.solved, 2 * all.solved);
  EXPECT_EQ(some.counts.in_turn, 0);
  EXPECT_NEAR(some.flux, all.flux, 1e-3 * all.flux);
  EXPECT_LT(some.imbalance, 1e-12);
}

// A gradient of acid in one box of calcite: threads and their shares do not matter to the last bit, and what is skipped
// changes what has dissolved by no more than its tolerance allows.
TEST_F(ReactionTest, ThreadsAndSkippedCells) {
  const Solution acid = test::water(shipped(), "3", {"Cl 0.01 charge", "Na 0.01", "Ca 1e-3", "C(4) 1e-3"});
  const ReactiveMedium medium = calcite_in(acid, {"0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"});
  TransportStepper stepper(open_box(comm_, {8, 4, 4}, 8), test::components_of(acid.system, 0.0));
  struct Result {
    double dissolved = 0.0;
    std::int64_t solved = 0, kept = 0;
  };
  const auto run = [&](int threads, double skip) {
    const int before = n_threads();
    set_n_threads(threads);
    TransportState state = stepper.make_state();
    const std::vector<double> totals = test::totals_of(acid);
    for (std::size_t p = 0; p < totals.size(); ++p)
      stepper.set_values(state, p, [&](const Vec3& x) { return totals[p] * (p == 0 ? 1.0 - 0.02 * x[0] : 1.0); });
    const double area = 1e-3, amount = 1.0;
    const ReactiveSites sites = volume_sites(stepper.grid(), {&area, 1}, {&amount, 1});
    ReactionState reaction = start_reaction(medium, sites);
    ReactionReport report;
    Result result;
    for (int i = 0; i < 10; ++i) {
      react(medium, sites, stepper.grid(), 1.0, {skip}, reaction, state.values, report);
      result.dissolved += report.dissolved[0];
      result.solved += report.solved;
      result.kept += report.kept;
    }
    set_n_threads(before);
    return result;
  };
  const Result one = run(1, 0.0), three = run(3, 0.0), skipping = run(1, 1e-2);
  EXPECT_EQ(one.dissolved, three.dissolved);
  EXPECT_EQ(one.kept, 0);
  EXPECT_EQ(one.solved, 10 * 128);
  EXPECT_GT(skipping.kept, 128);
  EXPECT_EQ(skipping.kept + skipping.solved, 10 * 128);
  EXPECT_NEAR(skipping.dissolved, one.dissolved, 2e-2 * one.dissolved);
}

}  // namespace
}  // namespace karst::reaction_test
