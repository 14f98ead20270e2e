// SPDX-License-Identifier: BSD-3-Clause
// Volumes with exchangers and phases in equilibrium.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "chemistry/vessel.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/reactive_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/reactive/reaction_items.hpp"

namespace karst::sorbing_sites_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

std::shared_ptr<const Composite> open_box(const Comm& comm) {
  const test::DistanceFunction nothing([](const Vec3&) { return 1e3; });
  return test::composite_of(comm, test::flow_grid({16, 2, 2}, {false, true, true}, 8), nothing);
}

/// A quarter of the water of a box is exchanged for another one again and again, as in a mixing cell.
class SorbingSites : public ::testing::Test {
 protected:
  explicit SorbingSites(bool calcite = false)
      : clay_{"clay", {"X 1.1e-3"}},
        first_(test::water(shipped(), "7", {"Na 1e-3", "K 2e-4", "Ca 1e-5", "C(4) 1e-4", "Cl 1e-3 charge"})),
        other_(test::water(shipped(), "7", {"Na 0", "K 0", "Ca 6e-4", "C(4) 1e-4", "Cl 1e-3 charge"})),
        vessel_(make_vessel(shipped(), first_,
                            {{clay_},
                             {},
                             calcite ? std::vector<EquilibriumOptions>{{"calcite", "Calcite", 0.0, 1e-3}}
                                     : std::vector<EquilibriumOptions>{}})),
        stepper_(open_box(comm_), test::components_of(first_.system, 0.0)),
        state_(stepper_.make_state()),
        sites_(volume_sites(stepper_.grid(), vessel_.minerals.area, vessel_.minerals.amount)),
        reaction_(start_reaction(vessel_.medium, sites_)) {
    const std::vector<double> totals = test::totals_of(first_);
    for (std::size_t p = 0; p < totals.size(); ++p)
      stepper_.set_values(state_, p, [c = totals[p]](const Vec3&) { return c; });
  }

  /// What is in the box, dissolved and, where asked, sorbed and in minerals, per volume.
  double content(std::size_t p, bool all = true) const {
    double sum = 0.0, volume = 0.0;
    const std::size_t n = vessel_.totals.size(), n_minerals = vessel_.medium.minerals.size();
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      const std::size_t v = sites_.volume[s];
      const double cell = stepper_.grid().volume[v];
      volume += cell;
      sum += cell * state_.values[p][v];
      if (all) sum += cell * reaction_.sorbed[s * n + p];
      for (std::size_t m = 0; all && m < n_minerals; ++m)
        sum += cell * vessel_.medium.minerals[m].brought[p] * reaction_.amount[s * n_minerals + m];
    }
    return comm_.sum(sum) / comm_.sum(volume);
  }

  void exchange_a_quarter() {
    const std::vector<double> coming = test::totals_of(other_);
    for (std::size_t p = 0; p < coming.size(); ++p)
      for (double& c : state_.values[p]) c = 0.75 * c + 0.25 * coming[p];
    react(vessel_.medium, sites_, stepper_.grid(), 1.0, {}, reaction_, state_.values, report_);
  }

  /// @param wanted  [step][element] totals [mol/kgw]
  void expect_totals(const std::map<int, std::map<std::string, double>>& wanted) {
    const std::vector<double> coming = test::totals_of(other_);
    for (int step = 1; step <= 20; ++step) {
      std::vector<double> expected(coming.size());
      for (std::size_t p = 0; p < coming.size(); ++p) expected[p] = content(p) + 0.25 * (coming[p] - content(p, false));
      exchange_a_quarter();
      for (std::size_t p = 0; p < coming.size(); ++p)
        EXPECT_NEAR(content(p), expected[p], 1e-13 * (std::abs(expected[p]) + 1e-4)) << step << ' ' << p;
      if (!wanted.contains(step)) continue;
      for (const auto& [element, total] : wanted.at(step)) {
        const std::size_t p = vessel_.medium.system.primary_of(element);
        for (const std::int32_t v : sites_.volume)
          ASSERT_NEAR(state_.values[p][v], total, 1e-5 * total) << step << ' ' << element;
      }
    }
  }

  Comm comm_ = Comm::world();
  PetscSession petsc_;
  SorbentOptions clay_;
  Solution first_, other_;
  Vessel vessel_;
  TransportStepper stepper_;
  TransportState state_;
  ReactiveSites sites_;
  ReactionState reaction_;
  ReactionReport report_;
};

class SorbingSitesWithCalcite : public SorbingSites {
 protected:
  SorbingSitesWithCalcite() : SorbingSites(true) {}
};

// PhreeqcRM 0.0.20, phreeqc.dat, 25 °C: MIX 0.75, 0.25 with EXCHANGE, 20 times.
TEST_F(SorbingSites, MixingCellMpi) {
  expect_totals({{2, {{"Na", 6.438220187287e-4}, {"K", 1.879632234766e-4}, {"Ca", 1.897323789372e-4}}},
                 {5, {{"Na", 2.813482573313e-4}, {"K", 9.287724468362e-5}, {"Ca", 4.152602958892e-4}}},
                 {10, {{"Na", 6.914630766045e-5}, {"K", 2.589362321758e-5}, {"Ca", 5.530431697146e-4}}},
                 {20, {{"Na", 4.134228490272e-6}, {"K", 1.923920247255e-6}, {"Ca", 5.970026377512e-4}}}});
}

// The same with EQUILIBRIUM_PHASES Calcite 0 1e-3.
TEST_F(SorbingSitesWithCalcite, MixingCellMpi) {
  expect_totals({{2, {{"Na", 6.438574864335e-4}, {"Ca", 2.602165903778e-4}, {"C(4)", 1.708598099465e-4}}},
                 {5, {{"Na", 2.798543050435e-4}, {"Ca", 4.679807381875e-4}, {"C(4)", 1.510969319083e-4}}},
                 {10, {{"Na", 6.865642795571e-5}, {"Ca", 5.990917822571e-4}, {"C(4)", 1.454616979977e-4}}},
                 {20, {{"Na", 4.097014624316e-6}, {"Ca", 6.411763011799e-4}, {"C(4)", 1.441216546067e-4}}}});
  for (const double amount : reaction_.amount) EXPECT_NEAR(amount, 7.141414015450e-4, 1e-5 * 7e-4);
}

// What a box remembers is all that it needs: it goes on with the same bits.
TEST_F(SorbingSitesWithCalcite, GoesOnFromItsItems) {
  for (int step = 0; step < 3; ++step) exchange_a_quarter();
  const Composite& grid = *stepper_.grid().composite;
  const VofSet unknowns = unknowns_of(grid.geometry(), grid.numbering());
  State state;
  add_items(vessel_.medium, sites_, unknowns, "sites", reaction_, nullptr, state);
  ReactionState again = start_reaction(vessel_.medium, sites_);
  take_items(state, vessel_.medium, sites_, unknowns, "sites", again, nullptr);
  std::vector<std::vector<double>> before;
  for (const Array<double>& c : state_.values) before.emplace_back(c.begin(), c.end());
  exchange_a_quarter();
  std::vector<std::vector<double>> after;
  for (const Array<double>& c : state_.values) after.emplace_back(c.begin(), c.end());
  for (std::size_t p = 0; p < before.size(); ++p) std::ranges::copy(before[p], state_.values[p].begin());
  reaction_ = again;
  exchange_a_quarter();
  for (std::size_t p = 0; p < after.size(); ++p) EXPECT_TRUE(std::ranges::equal(after[p], state_.values[p])) << p;
}

}  // namespace
}  // namespace karst::sorbing_sites_test
