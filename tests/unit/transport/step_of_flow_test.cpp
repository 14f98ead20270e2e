// SPDX-License-Identifier: BSD-3-Clause
// Steps by what the flow moves: longer than its fastest volumes allow.
#include <gtest/gtest.h>

#include <cmath>

#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst::step_of_flow_test {
namespace {

/// 48 rows of cells, the lowest of which flow with speed 1, all others with 1/4.
std::function<double(double, double)> rows_that_flow(double fast) {
  return [fast](double, double y) { return std::min(y, fast) + 0.25 * std::max(0.0, y - fast); };
}

// One fast row has 1 / (1 + 47/4) = 0.08 of what the flow moves and is left out, two have 0.15 and set the step.
TEST(StepOfMost, ByWhatTheFlowMovesMpi) {
  const PetscSession petsc;
  const Comm comm = Comm::world();
  for (const auto& [fast, longer] : {std::pair{1.0, 4.0}, {2.0, 1.0}, {48.0, 1.0}}) {
    FaceField flow(
        test::composite_of(comm, test::plane_grid(48), test::DistanceFunction([](const Vec3&) { return 100.0; })));
    test::set_stream(flow, rows_that_flow(fast));
    TransportStepper stepper(flow.composite(), {ScalarComponent{}});
    stepper.set_flow(flow);
    EXPECT_NEAR(stepper.largest_step(), 1.0, 1e-12) << fast;
    EXPECT_NEAR(stepper.step_of_most() / stepper.largest_step(), longer, 1e-12) << fast;
  }
}

/// A front through a packing, half of which is refined.
struct Front {
  double content = 0.0, least = 1e30, largest = -1e30, imbalance = 0.0;
  std::int64_t implicit = 0;
  int steps = 0;
};
Front front_after(const Comm& comm, double volumes, bool by_most) {
  const GridOptions grid =
      test::refined_in(test::flow_grid(Index::all(16), {false, true, true}), 1, {0, 0, 0}, {8, 16, 16});
  ScalarComponent component;
  component.diffusivity = 0.02;
  component.sides[0] = {ScalarSide::Kind::open, [](const Vec3&, double) { return 1.0; }};
  TransportOptions options;
  options.allowed_divergence = 1e30;
  TransportStepper stepper(test::composite_of(comm, grid, *test::packing(14, 3.3, 16, true, 3)), {component}, options);
  FaceField flow = test::stream_through(stepper.grid(), {1.0, 0.0, 0.0});
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  TransportReport report;
  Front front;
  const double step = 0.9 * (by_most ? stepper.step_of_most() : stepper.largest_step()), end = 16.0 * volumes;
  front.steps = static_cast<int>(std::ceil(end / step));
  for (int i = 0; i < front.steps; ++i) {
    stepper.advance(state, end / front.steps, report);
    const ComponentBalance& b = report.components[0];
    front.least = std::min(front.least, b.least);
    front.largest = std::max(front.largest, b.largest);
    front.imbalance = std::max(front.imbalance, b.imbalance);
    front.implicit = std::max(front.implicit, report.implicit_volumes);
    front.content = b.content;
  }
  return front;
}

// In fewer steps as much has come in, to 0.3 %, within the bounds and with nothing lost.
TEST(StepOfMost, AFrontThroughAPackingMpi) {
  const PetscSession petsc;
  const Comm comm = Comm::world();
  const Front all = front_after(comm, 0.25, false), most = front_after(comm, 0.25, true);
  EXPECT_LT(most.steps, 0.8 * all.steps);
  EXPECT_GT(most.implicit, all.implicit);
  EXPECT_NEAR(most.content / all.content, 1.0, 0.003);
  EXPECT_GT(most.least, -1e-13);
  EXPECT_LT(most.largest, 1.0 + 1e-13);
  EXPECT_LT(most.imbalance, 1e-12);
}

}  // namespace
}  // namespace karst::step_of_flow_test
