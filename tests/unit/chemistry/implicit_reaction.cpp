// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/implicit_reaction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "chemistry/solution.hpp"

namespace karst::implicit_reaction_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

Solution water(const std::string& ph, std::vector<std::string> totals) {
  SolutionOptions options;
  options.ph = ph;
  options.totals = std::move(totals);
  return solve_solution(shipped(), options);
}

std::vector<double> totals_of(const Solution& s) {
  std::vector<double> all;
  for (int p = 0; p < s.system.n_primaries; ++p) all.push_back(total_of(s.system, s.state, p));
  return all;
}

SurfaceReaction calcite(const ChemicalSystem& system) {
  return make_surface_reaction(system, {"calcite", "Calcite", 0.0, 0.0, {"0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"}});
}

// One step of the implicit Euler method from the totals; the solution is left in `state`.
double reacted(const Solution& s, const SurfaceReaction& mineral, const std::vector<double>& totals, double share,
               double most, Speciation& state) {
  ReactionWorkspace work;
  double extent = 0.0;
  const ReactiveMedium medium = make_medium(s.system, {mineral}, s.state);
  EXPECT_TRUE(solve_reaction(medium, {totals, {&share, 1}, {&most, 1}, {&extent, 1}}, state, work));
  return extent;
}

// Slopes are those of differences.
TEST(ImplicitReaction, SlopesOfActivitiesAndRates) {
  const Solution s = water("6", {"Ca 1e-3", "C(4) 3e-3", "Cl 1e-3 charge"});
  const SurfaceReaction mineral = calcite(s.system);
  SpeciationWorkspace work;
  const auto at = [&](double extent, Speciation& state) {
    std::vector<SolutionCondition> conditions;
    const std::vector<double> totals = totals_of(s);
    for (std::size_t p = 0; p < totals.size(); ++p)
      conditions.push_back({SolutionCondition::Kind::total, totals[p] + extent * mineral.brought[p]});
    EXPECT_TRUE(speciate(s.system, conditions, state, work));
    return conditions;
  };
  Speciation state = s.state, high = s.state, low = s.state;
  const double step = 1e-7;
  at(step, high);
  at(-step, low);
  std::vector<double> slope(s.system.n_primaries + 1);
  ASSERT_TRUE(activity_slopes(s.system, at(0.0, state), mineral.brought, state, work, slope));
  for (std::size_t p = 0; p + 1 < slope.size(); ++p)
    EXPECT_NEAR(slope[p], (high.ln_activity[p] - low.ln_activity[p]) / (2.0 * step), 1e-5 * std::abs(slope[p]) + 1e-6);
  EXPECT_NEAR(slope.back(), (high.ln_water - low.ln_water) / (2.0 * step), 1e-6);
  const double difference =
      (dissolution_rate(s.system, high, mineral.mineral) - dissolution_rate(s.system, low, mineral.mineral)) /
      (2.0 * step);
  EXPECT_NEAR(dissolution_slope(s.system, state, mineral.mineral, slope), difference, 1e-5 * std::abs(difference));
}

// share -> 0: the rate of the solution as it is; share -> infinity: equilibrium, from below and from above.
TEST(ImplicitReaction, LimitsOfSlowAndFastMinerals) {
  for (const char* ph : {"2", "5", "7", "9", "11"}) {
    const Solution s = water(ph, {"Ca 1e-3", "C(4) 2e-3", "Na 1e-1", "Cl 0.1 charge"});
    const SurfaceReaction mineral = calcite(s.system);
    const double rate = dissolution_rate(s.system, s.state, mineral.mineral);
    Speciation state = s.state;
    EXPECT_NEAR(reacted(s, mineral, totals_of(s), 1e-9, 1.0, state), 1e-9 * rate, 1e-5 * std::abs(1e-9 * rate));
    for (const double share : {1e6, 1e12, 1e20}) {
      state = s.state;
      reacted(s, mineral, totals_of(s), share, 1.0, state);
      EXPECT_NEAR(saturation_index(s.system, state, mineral.mineral.phase), 0.0, 2e3 / share + 1e-8) << ph;
    }
  }
}

// Steps of a tenth of the time that has gone, from 1e-4 s on: verification.md G3, first order.
TEST(ImplicitReaction, StepsAreTheBatchReaction) {
  const Solution s = water("2.0", {"Cl 0.0112 charge", "Ca 1e-30", "C(4) 1e-30"});
  const SurfaceReaction mineral = calcite(s.system);
  const auto dissolved = [&](double growth) {
    std::vector<double> totals = totals_of(s);
    Speciation state = s.state;
    double sum = 0.0;
    for (double t = 0.0; t < 9.0;) {
      const double dt = std::min(std::max(1e-3, growth * t), 9.0 - t);
      const double extent = reacted(s, mineral, totals, 0.1 * dt, 1.0, state);
      for (std::size_t p = 0; p < totals.size(); ++p) totals[p] += extent * mineral.brought[p];
      sum += extent;
      t += dt;
    }
    return sum;
  };
  const double coarse = dissolved(0.04), fine = dissolved(0.02);
  EXPECT_NEAR(2.0 * fine - coarse, 4.209e-3, 1e-3 * 4.209e-3);
  EXPECT_NEAR(fine, 4.209e-3, 1e-2 * 4.209e-3);
}

TEST(ImplicitReaction, NoMoreDissolvesThanThereIs) {
  const Solution s = water("2.0", {"Cl 0.0112 charge", "Ca 1e-30", "C(4) 1e-30"});
  Speciation state = s.state;
  EXPECT_EQ(reacted(s, calcite(s.system), totals_of(s), 1e6, 1e-4, state), 1e-4);
  EXPECT_NEAR(total_of(s.system, state, s.system.primary_of("Ca")), 1e-4, 1e-12);
  state = s.state;
  EXPECT_EQ(reacted(s, calcite(s.system), totals_of(s), 0.0, 1e-4, state), 0.0);
}

// Random waters and rates over many decades, one and three minerals, warm from one start: none fails, and what is found
// solves the equations.
TEST(ImplicitReaction, RandomSolutionsAndRates) {
  const Solution start = water("7", {"Ca 1e-3", "Mg 1e-3", "C(4) 2e-3", "S(6) 1e-3", "Cl 1e-2 charge"});
  std::vector<SurfaceReaction> minerals{calcite(start.system)};
  minerals.push_back(make_surface_reaction(start.system, {"dolomite", "Dolomite", 0.0, 0.0, {"6e-4 H+ 0.5", "3e-8"}}));
  minerals.push_back(make_surface_reaction(start.system, {"gypsum", "Gypsum", 0.0, 0.0, {"1.6e-3"}}));
  std::mt19937 random(3);
  const auto power = [&](double from, double to) {
    return std::pow(10.0, std::uniform_real_distribution<double>(from, to)(random));
  };
  const ReactiveMedium one = make_medium(start.system, {minerals[0]}, start.state),
                       three = make_medium(start.system, minerals, start.state);
  ReactionWorkspace work;
  int failed = 0;
  for (int k = 0; k < 300; ++k) {
    std::vector<double> totals(start.system.n_primaries);
    for (double& t : totals) t = power(-9, -1);
    totals[0] = (k % 2 == 0 ? 1.0 : -1.0) * power(-6, -2);
    const std::size_t n = k % 3 == 0 ? 1 : 3;
    std::vector<double> share, most, extent(n, 0.0);
    for (std::size_t m = 0; m < n; ++m) share.push_back(power(-4, 9)), most.push_back(power(-6, 0));
    Speciation state = start.state;
    if (!solve_reaction(n == 1 ? one : three, {totals, share, most, extent}, state, work)) {
      ++failed;
      continue;
    }
    for (std::size_t m = 0; m < n; ++m) {
      const double rate = dissolution_rate(start.system, state, minerals[m].mineral);
      if (extent[m] < most[m])
        EXPECT_NEAR(extent[m] / share[m], rate,
                    1e-6 * std::abs(rate) + 1e-5 * std::abs(minerals[m].mineral.area) *
                                                dissolution_rate(start.system, start.state, minerals[m].mineral))
            << k << ' ' << m;
      else
        EXPECT_GE(share[m] * rate, most[m] * (1.0 - 1e-9)) << k << ' ' << m;
    }
  }
  EXPECT_EQ(failed, 0);
  EXPECT_LT(work.evaluations, 300 * 60);
}

}  // namespace
}  // namespace karst::implicit_reaction_test
