// SPDX-License-Identifier: BSD-3-Clause
// What is left of the divergence of a flow, led away along trees.
#include <gtest/gtest.h>

#include <cmath>

#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/flow/flow_balance.hpp"
#include "transport/flow/flow_projection.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst::flow_balance_test {
namespace {

/// A potential flow through a packing of 16³ cells, to which an irrotational flow is added that is nowhere continuous.
struct Disturbed {
  TransportStepper stepper;
  std::vector<double> flow;

  Disturbed(const Comm& comm, int levels, bool periodic, double size)
      : stepper(test::composite_of(comm, grid_of(levels, periodic), *test::packing(14, 3.3, 16, periodic, 3)),
                {ScalarComponent{}}, any_flow()) {
    FaceField stream = test::stream_through(stepper.grid(), {1.0, 0.2, -0.3});
    EXPECT_LE(stepper.set_flow(stream).after, 2e-15);
    ScalarGrid& grid = stepper.grid();
    flow.assign(stepper.flow().begin(), stepper.flow().end());
    std::vector<double> potential(grid.n_values, 0.0);
    for (std::int32_t v = 0; v < grid.n_own; ++v)
      potential[v] = size * std::sin(100.0 * grid.centroid[v][0] + 70.0 * grid.centroid[v][1] * grid.centroid[v][2]);
    add_irrotational(grid, open_faces(grid, flow), potential, flow);
  }
  static GridOptions grid_of(int levels, bool periodic) {
    const GridOptions grid = test::flow_grid(Index::all(16), {periodic, periodic, periodic});
    return levels == 1 ? grid : test::refined_in(grid, 1, {5, 0, 3}, {13, 11, 12});
  }
  static TransportOptions any_flow() {
    TransportOptions options;
    options.allowed_divergence = std::numeric_limits<double>::infinity();
    return options;
  }
  /// Largest |Σ| of the fluxes of a volume, over Σ of their sizes and the least one.
  double largest_gap() {
    const ScalarGrid& grid = stepper.grid();
    double worst = 0.0;
    for_each_volume(grid, [&](std::int32_t, auto&& faces) {
      double sum = 0.0, size = 1e-3;
      faces([&](std::int32_t face, std::int32_t, double outward) {
        sum += outward * flow[face];
        size += std::abs(flow[face]);
      });
      worst = std::max(worst, std::abs(sum) / size);
    });
    return grid.composite->comm().max(worst);
  }
  void balance() {
    const std::vector<double> exchange(stepper.grid().volume.begin(),
                                       stepper.grid().volume.begin() + stepper.grid().n_own);
    balance_flow(stepper.grid(), open_faces(stepper.grid(), flow), exchange, flow);
  }
};

class FlowBalance : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
};

// Whatever the fluxes were, all volumes keep what they have: on one level and two, with and without ends.
TEST_F(FlowBalance, LeavesRoundOffMpi) {
  for (const auto& [levels, periodic] : {std::pair{1, false}, {2, false}, {1, true}, {2, true}}) {
    Disturbed d(comm_, levels, periodic, 1e-7);
    EXPECT_GT(d.largest_gap(), 1e-8);
    d.balance();
    EXPECT_LT(d.largest_gap(), 1e-15) << levels << ' ' << periodic;
  }
}

// Fluxes are changed by what was left, not by more than the sums over a box of 8³ cells allow: 2e-4 where each of the
// cells has lost or gained some 1e-6. No flux through closed faces appears.
TEST_F(FlowBalance, ChangesLittleMpi) {
  Disturbed d(comm_, 2, false, 1e-6);
  const std::vector<double> before = d.flow;
  d.balance();
  double most = 0.0;
  for (std::size_t f = 0; f < before.size(); ++f) {
    most = std::max(most, std::abs(d.flow[f] - before[f]));
    if (before[f] == 0.0 && f >= static_cast<std::size_t>(3 * d.stepper.grid().n_all)) {
      EXPECT_EQ(d.flow[f], 0.0);
    }
  }
  EXPECT_GT(comm_.max(most), 1e-7);
  EXPECT_LT(comm_.max(most), 2e-4);
}

// The same bits whoever owns the boxes: of a level, on which numbers of unknowns follow the boxes.
TEST_F(FlowBalance, OwnersDoNotChangeTheLastBitMpi) {
  Disturbed whole(Comm::self(), 1, false, 1e-7), part(comm_, 1, false, 1e-7);
  // Both begin with the same fluxes.
  ScalarGrid& grid = part.stepper.grid();
  const std::int64_t first = grid.composite->numbering().first();
  const std::vector<double> potential = whole.stepper.flow_potential();
  FaceField stream = test::stream_through(grid, {1.0, 0.2, -0.3});
  part.stepper.set_flow(stream, std::span(potential).subspan(first, grid.n_own));
  const auto outflows = [](const TransportStepper& s) {
    std::vector<double> sums(s.grid().n_own, 0.0);
    for_each_volume(s.grid(), [&](std::int32_t v, auto&& faces) {
      faces(
          [&](std::int32_t face, std::int32_t, double outward) { sums[v] += std::max(0.0, outward * s.flow()[face]); });
    });
    return sums;
  };
  const std::vector<double> alone = outflows(whole.stepper), here = outflows(part.stepper);
  for (std::size_t v = 0; v < here.size(); ++v) EXPECT_EQ(here[v], alone[first + v]);
}

}  // namespace
}  // namespace karst::flow_balance_test
