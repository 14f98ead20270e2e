// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/transport_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"

namespace karst {
namespace {

using test::error_norms;

struct March {
  std::array<double, 3> error{};
  double least = 1e30, largest = -1e30, imbalance = 0.0;
  int steps = 0, passes = 0, iterations = 0;
  std::int64_t limited = 0;
};

void march(TransportStepper& stepper, TransportState& state, double end, int steps, March& run) {
  TransportReport report;
  const double dt = (end - state.time) / steps;
  for (int i = 0; i < steps; ++i) {
    stepper.advance(state, dt, report);
    for (const ComponentBalance& b : report.components) {
      run.least = std::min(run.least, b.least);
      run.largest = std::max(run.largest, b.largest);
      run.imbalance = std::max(run.imbalance, b.imbalance);
    }
    run.passes = std::max(run.passes, report.passes);
    run.iterations += report.low_iterations + report.high_iterations;
    run.limited = std::max(run.limited, report.limited_faces);
  }
  run.steps = steps;
}

class TransportStepperTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

/// T3: a blob carried half round a cylinder in an annulus that turns as a whole.
March rotation(const Comm& comm, int n) {
  const double h = 2.0 / n;
  const Vec3 center{0.5 * n + 0.137, 0.5 * n - 0.211, 0.0};
  const auto radius = [=](double x, double y) { return h * std::hypot(x - center[0], y - center[1]); };
  const test::DistanceFunction walls([=](const Vec3& x) {
    const double r = radius(x[0], x[1]);
    return std::min(r - 0.25, 0.93 - r) / h;
  });
  const auto composite = test::composite_of(comm, test::plane_grid(n), walls);
  FaceField flow(composite);
  test::set_stream(flow, [=](double x, double y) { return -0.5 * radius(x, y) * radius(x, y) / (h * h); });
  TransportStepper stepper(composite, {ScalarComponent{}});
  const FlowContinuity continuity = stepper.set_flow(flow);
  EXPECT_LT(continuity.before, 1e-8);  // face centroids of the geometry are in single precision
  EXPECT_LT(continuity.after, 1e-15);
  TransportState state = stepper.make_state();
  const auto blob = [=](double t) {
    return [=](const Vec3& x) {
      const double a = h * (x[0] - center[0]) - 0.5 * std::cos(t), b = h * (x[1] - center[1]) - 0.5 * std::sin(t);
      return std::exp(-(a * a + b * b) / (2.0 * 0.15 * 0.15));
    };
  };
  stepper.set_values(state, 0, blob(0.0));
  const double end = std::numbers::pi;
  March run;
  march(stepper, state, end, static_cast<int>(std::ceil(end / (0.5 * stepper.largest_step()))), run);
  run.error = error_norms(stepper, state.values[0].span(), blob(end));
  return run;
}

// Second order, within the bounds of the start, nothing lost.
TEST_F(TransportStepperTest, RotationIsOfSecondOrderAndBounded) {
  const March coarse = rotation(comm_, 32), fine = rotation(comm_, 64);
  EXPECT_LT(fine.error[0], 2.0e-3);  // 7.5e-3, 1.8e-3; 3.8e-4 on 128²
  EXPECT_LT(fine.error[2], 5.5e-2);  // 0.19, 0.047; 0.011
  EXPECT_GT(std::log2(coarse.error[0] / fine.error[0]), 1.9);
  EXPECT_GT(std::log2(coarse.error[2] / fine.error[2]), 1.8);
  for (const March& r : {coarse, fine}) {
    EXPECT_GT(r.least, -1e-15);
    EXPECT_LT(r.largest, 1.0);
    EXPECT_LT(r.imbalance, 1e-14);
  }
}

/// T7: decay in a sphere whose wall reacts, Da = k R / D.
March decay(const Comm& comm, int n, int steps, double da, double end) {
  const double radius = 0.4 * n;
  const test::DistanceFunction walls([=](const Vec3& x) {
    return radius - norm(x - Vec3{0.5 * n + 0.137, 0.5 * n - 0.211, 0.5 * n + 0.3});
  });
  const auto composite = test::composite_of(comm, test::flow_grid(Index::all(n), {}, 16), walls);
  ScalarComponent c;
  c.diffusivity = radius * radius;
  c.wall = [=](const WallPiece&) { return ScalarWall{da * radius, 0.0}; };
  TransportStepper stepper(composite, {c});
  FaceField flow(composite);
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  stepper.set_values(state, 0, [](const Vec3&) { return 1.0; });
  March run;
  march(stepper, state, end, steps, run);
  double volume = 0.0, mass = 0.0;
  for (std::size_t v = 0; v < stepper.grid().centroid.size(); ++v) {
    volume += stepper.grid().volume[v];
    mass += stepper.grid().volume[v] * state.values[0][v];
  }
  double mean = 0.0;  // sphere: mu cot mu = 1 - Da
  for (int k = 0; k < 12; ++k) {
    double lo = k * std::numbers::pi + 1e-9, hi = (k + 1) * std::numbers::pi - 1e-9;
    for (int i = 0; i < 80; ++i) {
      const double m = 0.5 * (lo + hi);
      (m * std::cos(m) / std::sin(m) > 1.0 - da ? lo : hi) = m;
    }
    const double m = lo, q = m * m;
    mean += 6.0 * da * da / (q * (q + da * (da - 1.0))) * std::exp(-q * end);
  }
  run.error[0] = std::abs(comm.sum(mass) / comm.sum(volume) / mean - 1.0);
  return run;
}

// The mean of the series, to second order (16³: 2.9e-3, 32³: 7.1e-4, 48³: 3.4e-4 for Da = 10); bounded.
TEST_F(TransportStepperTest, ReactingSphereDecaysMpi) {
  const March r = decay(comm_, 12, 8, 10.0, 0.1);
  EXPECT_LT(r.error[0], 8e-3);
  EXPECT_GE(r.least, 0.0);
  EXPECT_LT(r.largest, 1.0 + 1e-13);
  EXPECT_LT(r.imbalance, 1e-13);
}

}  // namespace
}  // namespace karst
