// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "chemistry/solution.hpp"

namespace karst::kinetics_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

Solution acid() {
  SolutionOptions options;
  options.ph = "2.0";
  options.totals = {"Cl 0.0112 charge", "Ca 1e-30", "C(4) 1e-30"};
  return solve_solution(shipped(), options);
}

const MineralOptions calcite{"calcite", "Calcite", 0.1, 1.0, {"0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7"}};

std::vector<BatchState> reacted(const Solution& s, const MineralOptions& options, const std::vector<double>& times,
                                double tolerance = 1e-3) {
  std::vector<double> totals;
  for (int p = 0; p < s.system.n_primaries; ++p) totals.push_back(total_of(s.system, s.state, p));
  const ReactiveMedium medium = make_medium(s.system, {make_surface_reaction(s.system, options)}, s.state);
  return react(medium, minerals_of({options}), totals, times, tolerance);
}

// verification.md G3: PhreeqcRM 0.0.20, phreeqc.dat; Ca to 0.2 %, pH to 0.003.
TEST(Kinetics, CalciteInHydrochloricAcid) {
  const Solution s = acid();
  const std::vector<double> times{0.01, 0.09, 0.9, 9.0, 90.0, 900.0, 9000.0};
  const std::vector<double> calcium{8.893e-6, 7.952e-5, 7.447e-4, 4.209e-3, 5.625e-3, 6.148e-3, 7.874e-3};
  const std::vector<double> ph{2.001, 2.006, 2.064, 2.632, 4.949, 5.713, 6.464};
  const std::vector<BatchState> states = reacted(s, calcite, times);
  ASSERT_EQ(states.size(), times.size());
  const int ca = s.system.primary_of("Ca"), cl = s.system.primary_of("Cl");
  const double chloride = total_of(s.system, s.state, cl);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const Speciation& at = states[k].solution;
    EXPECT_NEAR(total_of(s.system, at, ca), calcium[k], 2e-3 * calcium[k]) << times[k];
    EXPECT_NEAR(ph_of(at), ph[k], 3e-3) << times[k];
    // verification.md G4: elements and charge before and after
    EXPECT_NEAR(total_of(s.system, at, ca), states[k].dissolved[0], 1e-12 * chloride);
    EXPECT_NEAR(total_of(s.system, at, cl), chloride, 1e-12 * chloride);
    EXPECT_LT(std::abs(charge_of(s.system, at)), 1e-12 * ions_of(s.system, at)) << times[k];
  }
}

TEST(Kinetics, ToleranceIsOfSecondOrderAndTheEndIsEquilibrium) {
  const Solution s = acid();
  const double fine = reacted(s, calcite, {9.0}, 1e-6)[0].dissolved[0];
  const double coarse = reacted(s, calcite, {9.0}, 1e-2)[0].dissolved[0];
  EXPECT_NEAR(coarse, fine, 2e-3 * fine);
  const BatchState end = reacted(s, calcite, {1e8})[0];
  EXPECT_NEAR(saturation_index(s.system, end.solution, s.system.phase("Calcite")), 0.0, 1e-6);
}

TEST(Kinetics, DissolutionEndsWithTheMineral) {
  const Solution s = acid();
  MineralOptions little = calcite;
  little.amount = 1e-3;
  const BatchState end = reacted(s, little, {100.0})[0];
  EXPECT_DOUBLE_EQ(end.dissolved[0], 1e-3);
  EXPECT_NEAR(total_of(s.system, end.solution, s.system.primary_of("Ca")), 1e-3, 1e-12);
}

TEST(Kinetics, RatePathsAsUsersWriteThem) {
  const ChemicalSystem system = make_system(shipped(), {"Ca", "C(4)"}, 323.15);
  const RatePath path = parse_rate_path(system, "6.6e-7 Ea 23.5");
  EXPECT_NEAR(path.ln_k, std::log(6.6e-7) - 23.5 / 8.314462618e-3 * (1.0 / 323.15 - 1.0 / 298.15), 1e-12);
  EXPECT_EQ(parse_rate_path(system, "0.89 H+ 0.5").activity.size(), 1U);
  for (const char* bad : {"", "x", "-1", "1 H+", "1 Na+ 1", "1 H+ one"})
    EXPECT_THROW(parse_rate_path(system, bad), Error) << bad;
}

}  // namespace
}  // namespace karst::kinetics_test
