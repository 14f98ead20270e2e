// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/transport_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"

namespace karst::transport_stepper_test {
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
  test::TurningBlob blob(comm, n);
  EXPECT_LT(blob.continuity.before, 1e-5);  // face centroids of the geometry are in single precision
  EXPECT_LT(blob.continuity.after, 3e-15);
  const double end = std::numbers::pi;
  March run;
  march(blob.stepper, blob.state, end, static_cast<int>(std::ceil(end / (0.5 * blob.stepper.largest_step()))), run);
  run.error = error_norms(blob.stepper, blob.state.values[0].span(), blob.annulus.blob(end));
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

// Also of what decays and has a source, which have changed what a step works with; whatever stands there since.
TEST_F(TransportStepperTest, GoesBackToWhatAStepBeganWith) {
  const test::TurningAnnulus annulus(32);
  const auto composite = test::composite_of(comm_, test::plane_grid(32), annulus.walls());
  FaceField flow(composite);
  annulus.set_flow(flow);
  ScalarComponent decaying;
  decaying.diffusivity = 1e-3;
  decaying.decay = 0.3;
  decaying.source = 0.2;
  TransportStepper stepper(composite, {ScalarComponent{}, decaying});
  stepper.set_flow(flow);
  TransportState state = stepper.make_state(), before = stepper.make_state();
  for (TransportState* s : {&state, &before})
    for (const std::size_t i : {0U, 1U}) stepper.set_values(*s, i, annulus.blob(0.0));
  const auto expect_before = [&] {
    EXPECT_EQ(state.time, before.time);
    for (const std::size_t i : {0U, 1U}) {
      EXPECT_EQ(state.range[i].least, before.range[i].least);
      EXPECT_EQ(state.range[i].largest, before.range[i].largest);
      EXPECT_TRUE(std::ranges::equal(state.values[i].span(), before.values[i].span())) << i;
    }
  };
  stepper.go_back(state);  // there was no step
  expect_before();
  TransportReport report;
  for (const double dt : {0.1, 0.2}) {
    stepper.advance(state, dt * stepper.largest_step(), report);
    std::ranges::fill(state.values[1].span(), 7.0);
    stepper.go_back(state);
    expect_before();
  }
  EXPECT_THROW(stepper.advance(state, 1e30, report), Error);  // within the step, with ranges that are wider already
  stepper.go_back(state);
  expect_before();
  stepper.advance(state, 0.1, report);
  EXPECT_EQ(state.time, 0.1);
  stepper.forget_start();
  stepper.go_back(state);
  EXPECT_EQ(state.time, 0.1);
  EXPECT_THROW(stepper.advance(state, -1.0, report), Error);
}

/// exp(x²) erfc(x) without overflow.
double scaled_erfc(double x) {
  if (x < 20.0) return std::exp(x * x) * std::erfc(x);
  return (1.0 - 0.5 / (x * x)) / (x * std::sqrt(std::numbers::pi));
}

/// What an inlet that jumps to 1 at t = 0 brings into a column without end, speed 1: with the concentration on the
/// inlet (Ogata & Banks 1961), or in the inflow alone (van Genuchten & Alves, USDA Technical Bulletin 1661 (1982), A2).
double after_jump(ScalarSide::Kind inlet, double x, double t, double diffusivity) {
  const double spread = std::sqrt(4.0 * diffusivity * t), low = (x - t) / spread, high = (x + t) / spread;
  const double bell = std::exp(-low * low), tail = bell * scaled_erfc(high);
  if (inlet == ScalarSide::Kind::fixed) return 0.5 * (std::erfc(low) + tail);
  return 0.5 * std::erfc(low) + std::sqrt(t / (std::numbers::pi * diffusivity)) * bell -
         0.5 * (1.0 + (x + t) / diffusivity) * tail;
}

struct Inflow {
  ScalarSide::Kind kind = ScalarSide::Kind::fixed;
  bool jump = true;  ///< at t = 0; else sin²(π t / 1.2)
  double courant = 0.5;
  bool beside = false;  ///< a component with the other kind of inlet, and next to no diffusion
};

/// Σ h |error| in a column of 2, speed 1, D = 0.02, at t = 0.6. First steps are a sixteenth and grow by half.
double inflow_error(const Comm& comm, int n, const Inflow& what) {
  constexpr double diffusivity = 0.02, end = 0.6, period = 1.2;
  const double h = 2.0 / n;
  const auto value = [&](double t) { return what.jump ? 1.0 : std::pow(std::sin(std::numbers::pi * t / period), 2); };
  const auto exact = [&](double x) {
    if (what.jump) return after_jump(what.kind, x, end, diffusivity);
    constexpr int parts = 1000;
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) {
      const double t = (i + 0.5) * end / parts, slope = std::sin(2.0 * std::numbers::pi * t / period);
      sum += slope * after_jump(what.kind, x, end - t, diffusivity);
    }
    return sum * std::numbers::pi / period * end / parts;
  };
  std::vector<ScalarComponent> components(what.beside ? 2 : 1);
  components[0].diffusivity = diffusivity / (h * h);
  components[0].sides[0] = {what.kind, [=](const Vec3&, double t) { return value(t); }};
  if (what.beside) {
    components[1].diffusivity = 1e-9;
    components[1].sides[0].kind =
        what.kind == ScalarSide::Kind::fixed ? ScalarSide::Kind::open : ScalarSide::Kind::fixed;
  }
  const test::DistanceFunction no_walls([](const Vec3&) { return 1e3; });
  TransportStepper stepper(test::composite_of(comm, test::flow_grid({n, 1, 1}, {false, true, true}, 16), no_walls),
                           components);
  FaceField flow(stepper.grid().composite);
  test::set_uniform(flow, {1.0 / h, 0.0, 0.0});
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  TransportReport report;
  const double longest = what.courant * stepper.largest_step();
  while (end - state.time > 1e-12) {
    const double dt = what.jump ? std::min(longest, longest / 16.0 + 0.5 * state.time) : longest;
    stepper.advance(state, (end - state.time) / std::ceil((end - state.time) / dt - 1e-9), report);
  }
  double error = 0.0;  // against means over cells, by the third Gauss rule
  for (std::size_t v = 0; v < stepper.grid().centroid.size(); ++v) {
    const double x = h * stepper.grid().centroid[v][0], by = 0.5 * std::sqrt(0.6) * h;
    error += h * std::abs(state.values[0][v] - (5.0 * exact(x - by) + 8.0 * exact(x) + 5.0 * exact(x + by)) / 18.0);
  }
  return comm.sum(error);
}

// A jump of the inlet and a pulse in time are carried at Courant number 0.5 as well as at 0.125, and to second order;
// at 0.9 with at most about twice the error. With the value on the inlet as the value upstream of it, a pulse
// had 5.8e-4 at 160 cells and 0.5 (now 9.7e-5, at 0.125 1.2e-4), a jump 4.8e-4 (1.9e-4 and 2.6e-4), at Courant number
// 0.9 1.4e-3 (3.5e-4).
void expect_good_in_long_steps(const Comm& comm, bool jump) {
  for (const ScalarSide::Kind kind : {ScalarSide::Kind::fixed, ScalarSide::Kind::open}) {
    const double coarse = inflow_error(comm, 80, {kind, jump, 0.5}), fine = inflow_error(comm, 160, {kind, jump}),
                 short_steps = inflow_error(comm, 160, {kind, jump, 0.125});
    EXPECT_LT(fine, 1.5 * short_steps) << static_cast<int>(kind) << jump;
    EXPECT_LT(fine, kind == ScalarSide::Kind::open ? 2.5e-5 : jump ? 2e-4 : 1.1e-4) << static_cast<int>(kind) << jump;
    EXPECT_GT(std::log2(coarse / fine), 1.6) << static_cast<int>(kind) << jump;
    EXPECT_LT(inflow_error(comm, 160, {kind, jump, 0.9}), 2.1 * short_steps) << static_cast<int>(kind) << jump;
  }
}
TEST_F(TransportStepperTest, InflowInTimeIsAsGoodInLongStepsAloneByDay) { expect_good_in_long_steps(comm_, true); }
TEST_F(TransportStepperTest, SmoothInflowInTimeIsAsGoodInLongStepsMpiAtNight) {
  expect_good_in_long_steps(comm_, false);
}

// It is what it is beside a component whose inlet is of the other kind.
TEST_F(TransportStepperTest, KindOfInletIsThatOfEachComponent) {
  for (const ScalarSide::Kind kind : {ScalarSide::Kind::fixed, ScalarSide::Kind::open}) {
    const double alone = inflow_error(comm_, 80, {kind, true, 0.5});
    EXPECT_NEAR(inflow_error(comm_, 80, {kind, true, 0.5, true}) / alone, 1.0, 1e-6) << static_cast<int>(kind);
  }
}

/// T7: decay in a sphere whose wall reacts, Da = k R / D.
March decay(const Comm& comm, int n, int steps, double da, double end) {
  const double radius = 0.4 * n;
  const test::DistanceFunction walls([=](const Vec3& x) {
    return radius - norm(x - Vec3{0.5 * n + 0.137, 0.5 * n - 0.211, 0.5 * n + 0.3});
  });
  const auto composite = test::composite_of(comm, test::flow_grid(Index::all(n), {}, 16), walls);
  TransportStepper stepper(composite, {test::consumed_at_walls(radius, da)});
  TransportState state = test::full_at_rest(stepper);
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

// A wall that is 0.3 cells behind, at 17° to the grid: with what the concentration changes from one to the other the
// profile c = g (distance + k⁻¹ D) of the wall that ought to be there stands still, to round-off; without, it does not.
TEST_F(TransportStepperTest, AWallBehindTheGeometryMpi) {
  const double angle = 17.0 * std::numbers::pi / 180.0, d = 0.7, k = 2.0, slope = 0.1, behind = 0.3;
  const Vec3 normal{std::cos(angle), std::sin(angle), 0.0}, at{5.3, 0.0, 0.0};
  const auto exact = [=](const Vec3& x) { return slope * (dot(x - at, normal) + behind + d / k); };
  ScalarComponent c;
  c.diffusivity = d;
  c.wall = [k](const WallPiece&) { return ScalarWall{k, 0.0}; };
  for (ScalarSide& side : c.sides)
    side = {ScalarSide::Kind::fixed, [exact](const Vec3& x, double) { return exact(x); }};
  const GridOptions grid = test::unit_cells({20, 12, 4}, {false, false, true}, 8);
  TransportOptions options;
  options.tolerance = 1e-12;
  TransportStepper stepper(test::composite_of(comm_, grid, *make_level_set(HalfSpace{at, normal})), {c}, options);
  FaceField none(stepper.grid().composite);
  stepper.set_flow(none);
  for (const bool told : {true, false}) {
    TransportState state = stepper.make_state();
    stepper.set_values(state, 0, exact);
    stepper.set_beyond_wall(0,
                            told ? std::vector<double>(stepper.grid().n_own, slope * behind) : std::vector<double>());
    TransportReport report;
    for (int step = 0; step < 3; ++step) stepper.advance(state, 0.5, report);
    double worst = 0.0;
    for (std::int32_t v = 0; v < stepper.grid().n_own; ++v)
      worst = std::max(worst, std::abs(state.values[0][v] - exact(stepper.grid().centroid[v])));
    worst = comm_.max(worst);
    if (told)
      EXPECT_LT(worst, 1e-9);
    else
      EXPECT_GT(worst, 1e-3);
    EXPECT_LT(report.components[0].imbalance, 1e-13);
  }
}

/// Potential flow through a packing, one region of it refined, and components with sharp data.
struct Packing {
  std::shared_ptr<const Composite> composite;
  TransportStepper stepper;
  TransportState state;
  std::vector<double> first;  ///< of each component before the march: least, largest

  Packing(const Comm& comm, int levels, std::vector<ScalarComponent> components, double tolerance = 1e-8)
      : composite(test::composite_of(comm, grid_of(levels), *test::packing(14, 3.3, 16, false, 3))),
        stepper(composite, std::move(components), options_of(tolerance)),
        state(stepper.make_state()) {
    FaceField flow = test::stream_through(stepper.grid(), {1.0, 0.2, -0.3});
    EXPECT_LT(stepper.set_flow(flow).after, 1e-14);
  }
  static GridOptions grid_of(int levels) {
    const GridOptions grid = test::flow_grid(Index::all(16), {});
    return levels == 1 ? grid : test::refined_in(grid, 1, {5, 0, 3}, {13, 11, 12});
  }
  static TransportOptions options_of(double tolerance) {
    TransportOptions options;
    options.allowed_divergence = 1e9;  // the uniform stream that is given ends at the walls
    options.tolerance = tolerance;
    return options;
  }
  void march_steps(int n, double courant, March& run) {
    const double dt = courant * stepper.largest_step();
    march(stepper, state, state.time + n * dt, n, run);
  }
};

// A uniform stream that ends at every grain becomes free of divergence in few iterations (18 to 22 here; 1700 with the
// diagonal alone, to 1e-15), on levels, ranks and a grid four times as large alike; so does one that repeats, without
// ends.
TEST_F(TransportStepperTest, FlowsAreMadeFreeOfDivergenceInFewIterationsMpi) {
  for (const auto& [n, levels, periodic] : {std::tuple{16, 1, false}, {16, 2, false}, {32, 1, false}, {32, 1, true}}) {
    GridOptions grid = test::flow_grid(Index::all(n), {periodic, periodic, periodic});
    if (levels > 1) grid = test::refined_in(grid, 1, {5, 0, 3}, {13, 11, 12});
    TransportStepper stepper(test::composite_of(comm_, grid, *test::packing(n * n * n / 292, 3.3, n, periodic, 3)),
                             {ScalarComponent{}}, Packing::options_of(1e-8));
    FaceField flow = test::stream_through(stepper.grid(), {1.0, 0.2, -0.3});
    const FlowContinuity continuity = stepper.set_flow(flow);
    EXPECT_GT(continuity.before, 0.1);
    EXPECT_LE(continuity.after, 2e-15) << n << ' ' << levels;
    EXPECT_LE(continuity.iterations, 26) << n << ' ' << levels;
  }
}

double box(const Vec3& x, const Vec3& lo, const Vec3& hi) {
  for (int d = 0; d < 3; ++d)
    if (x[d] < lo[d] || x[d] > hi[d]) return 0.0;
  return 1.0;
}
double first_pulse(const Vec3& x) { return box(x, {2, 3, 2}, {8, 12, 12}); }
double second_pulse(const Vec3& x) { return 0.7 * box(x, {5, 1, 4}, {11, 8, 14}); }

ScalarComponent with_inlet(double diffusivity, double inlet) {
  ScalarComponent c;
  c.diffusivity = diffusivity;
  for (ScalarSide& side : c.sides) side.value = [inlet](const Vec3&, double) { return inlet; };
  return c;
}

// A square pulse and a front that crosses levels: never outside of the data, and nothing is lost in any step; with
// and without diffusion, at Courant numbers above 1, too, where the fastest volumes are implicit.
TEST_F(TransportStepperTest, SharpDataStayWithinBoundsMpi) {
  for (const auto& [diffusivity, courant] : {std::pair{0.0, 0.5}, {0.5, 0.5}, {1e-3, 2.0}}) {
    Packing p(comm_, 2, {with_inlet(diffusivity, 1.0)});
    p.stepper.set_values(p.state, 0, second_pulse);
    March run;
    p.march_steps(6, courant, run);
    EXPECT_GT(run.least, -1e-13) << diffusivity << " " << courant;
    EXPECT_LT(run.largest, 1.0 + 1e-13);
    EXPECT_LT(run.imbalance, 1e-12);
    EXPECT_GT(run.limited, 0);
  }
}

// A front just before the end: what leaves has a concentration between those of the data, whatever the slope there.
TEST_F(TransportStepperTest, OutflowStaysWithinBoundsMpi) {
  const auto composite = test::composite_of(comm_, test::flow_grid(Index::all(8), {false, true, true}),
                                            *make_level_set(Sphere{{4, 4, 4}, 2}));
  for (const bool rising : {true, false}) {
    TransportStepper stepper(composite, {with_inlet(0.0, rising ? 1.0 : 0.0)}, Packing::options_of(1e-8));
    FaceField flow = test::stream_through(stepper.grid(), {1.0, 0.0, 0.0});
    stepper.set_flow(flow);
    TransportState state = stepper.make_state();
    stepper.set_values(state, 0, [&](const Vec3& x) { return (x[0] < 7.0) == rising ? 1.0 : 0.0; });
    double rate = 0.0;
    for (const BoundaryFace& b : stepper.grid().boundary) rate += std::max(0.0, stepper.flow()[b.face]);
    rate = comm_.sum(rate);
    TransportReport report;
    for (int i = 0; i < 4; ++i) {
      stepper.advance(state, 0.3 * stepper.largest_step(), report);
      const double mean = report.components[0].outflow / (rate * report.step);
      EXPECT_GT(mean, -1e-13) << i;
      EXPECT_LT(mean, 1.0 + 1e-13) << i;
    }
  }
}

// c3 = c1 - 2 c2 in all data stays so: one factor per face for all components. After every step, each of them is
// within the range of its data and nothing is lost, on one level and where the edge of a pulse crosses a finer one.
TEST_F(TransportStepperTest, SumsOfComponentsStaySumsMpi) {
  constexpr std::array<double, 3> least{0.0, 0.0, -1.4}, largest{1.0, 0.7, 1.0};
  for (const int levels : {1, 2}) {
    std::vector<ScalarComponent> components{with_inlet(0.05, 1.0), with_inlet(0.05, 0.0), with_inlet(0.05, 1.0)};
    for (ScalarComponent& c : components) c.group = "sum";
    Packing p(comm_, levels, components, 1e-14);
    p.stepper.set_values(p.state, 0, first_pulse);
    p.stepper.set_values(p.state, 1, second_pulse);
    p.stepper.set_values(p.state, 2, [](const Vec3& x) { return first_pulse(x) - 2.0 * second_pulse(x); });
    TransportReport report;
    std::int64_t limited = 0;
    for (int step = 0; step < 5; ++step) {
      p.stepper.advance(p.state, 0.5 * p.stepper.largest_step(), report);
      limited = std::max(limited, report.limited_faces);
      double worst = 0.0;
      for (std::size_t v = 0; v < p.stepper.grid().centroid.size(); ++v)
        worst = std::max(worst, std::abs(p.state.values[0][v] - 2.0 * p.state.values[1][v] - p.state.values[2][v]));
      EXPECT_LT(comm_.max(worst), 1e-12) << "levels " << levels << ", step " << step;
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GT(report.components[i].least, least[i] - 1e-13) << i << " levels " << levels << ", step " << step;
        EXPECT_LT(report.components[i].largest, largest[i] + 1e-13) << i << " levels " << levels << ", step " << step;
        EXPECT_LT(report.components[i].imbalance, 1e-12) << i << " levels " << levels << ", step " << step;
      }
    }
    EXPECT_GT(limited, 100);
  }
}

ScalarComponent of_group(ScalarComponent c, const std::string& group) {
  c.group = group;
  return c;
}

/// What the first component is after five steps.
std::vector<double> first_of(const Comm& comm, int levels, std::vector<ScalarComponent> components,
                             const std::vector<std::function<double(const Vec3&)>>& initial) {
  Packing p(comm, levels, std::move(components));
  for (std::size_t i = 0; i < initial.size(); ++i) p.stepper.set_values(p.state, i, initial[i]);
  March run;
  p.march_steps(5, 0.5, run);
  EXPECT_GT(run.limited, 100);
  const std::size_t n = p.stepper.grid().n_own;
  return {p.state.values[0].begin(), p.state.values[0].begin() + static_cast<std::ptrdiff_t>(n)};
}

// A component that is uniform but for noise holds back nobody of its group: a front beside it has the bits that it has
// without. What varies by more than 1e-9 of itself does hold it back.
TEST_F(TransportStepperTest, NoiseHoldsNobodyBackAloneByDay) {
  const ScalarComponent front = of_group(with_inlet(0.05, 1.0), "g"), uniform = of_group(with_inlet(0.05, 0.1), "g");
  for (const int levels : {1, 2}) {
    const std::vector<double> alone = first_of(comm_, levels, {front}, {second_pulse});
    for (const double noise : {1e-16, 1e-13, 1e-10, 1e-5}) {
      const auto noisy = [noise](const Vec3& x) {
        const double any = 43758.5453 * std::sin(12.9898 * x[0] + 78.233 * x[1] + 37.719 * x[2]);
        return 0.1 * (1.0 + noise * (2.0 * (any - std::floor(any)) - 1.0));
      };
      EXPECT_EQ(first_of(comm_, levels, {front, uniform}, {second_pulse, noisy}) == alone, noise < 1e-9)
          << noise << " levels " << levels;
    }
  }
}

// A salt that varies by a thousandth limits what it is grouped with by its variation, not by its round-off: a step
// longer by its last bit changes the acid by 1e-9 of itself at most, far ahead of the front, too.
TEST_F(TransportStepperTest, TheLastBitStaysSmallInAGroupAloneByDay) {
  const ScalarComponent acid = of_group(with_inlet(0.05, 1.0), "g"), salt = of_group(with_inlet(0.05, 0.1001), "g");
  std::array<std::vector<double>, 2> values;
  for (const bool longer : {false, true}) {
    Packing p(comm_, 1, {acid, salt});
    p.stepper.set_values(p.state, 0, [](const Vec3&) { return 0.0; });
    p.stepper.set_values(p.state, 1, [](const Vec3&) { return 0.1; });
    March run;
    p.march_steps(12, longer ? std::nextafter(0.5, 1.0) : 0.5, run);
    values[longer ? 1 : 0].assign(p.state.values[0].begin(), p.state.values[0].begin() + p.stepper.grid().n_own);
  }
  double largest = 0.0;
  for (std::size_t v = 0; v < values[0].size(); ++v)
    if (values[0][v] > 1e-7) largest = std::max(largest, std::abs(values[1][v] / values[0][v] - 1.0));
  EXPECT_LT(largest, 1e-9);
}

// Factors of its own: a component has the bits that it has alone, whatever is beside it, and however that diffuses.
TEST_F(TransportStepperTest, ComponentsDoNotDependOnWhatSwimsBesideAloneByDay) {
  const ScalarComponent front = with_inlet(0.05, 1.0);
  for (const int levels : {1, 2}) {
    const std::vector<double> alone = first_of(comm_, levels, {front}, {first_pulse});
    for (const double diffusivity : {0.0, 1e-9, 0.05}) {
      const ScalarComponent other = with_inlet(diffusivity, 0.0);
      EXPECT_TRUE(first_of(comm_, levels, {front, other}, {first_pulse, second_pulse}) == alone)
          << diffusivity << " levels " << levels;
      const std::vector<ScalarComponent> tied{of_group(front, "g"), of_group(other, "g")};
      EXPECT_FALSE(first_of(comm_, levels, tied, {first_pulse, second_pulse}) == alone) << diffusivity;
    }
  }
}

// The same on any ranks.
TEST_F(TransportStepperTest, DoesNotDependOnRanksMpi) {
  const auto measure = [](const Comm& comm) {
    Packing p(comm, 2, {with_inlet(0.05, 1.0)}, 1e-13);
    p.stepper.set_values(p.state, 0, second_pulse);
    March run;
    p.march_steps(4, 0.5, run);
    std::array<double, 2> sums{};
    for (std::size_t v = 0; v < p.stepper.grid().centroid.size(); ++v) {
      sums[0] += p.stepper.grid().volume[v] * p.state.values[0][v] * p.state.values[0][v];
      sums[1] += p.state.values[0][v] * p.stepper.grid().centroid[v][1];
    }
    comm.sum(std::span<double>(sums));
    return sums;
  };
  const auto here = measure(comm_), alone = measure(Comm::self());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(here[i] / alone[i], 1.0, 1e-11);
}

// With the potential that an earlier flow was made continuous with, a march is the same to the last bit whoever owns
// the volumes: of a level, without solves through multigrid, and the limiter looks as often at each of them. Numbers of
// unknowns on one level follow the boxes.
TEST_F(TransportStepperTest, OwnersDoNotChangeTheLastBitMpi) {
  constexpr int steps = 5;
  const Comm self = Comm::self();
  // The tails of the second one end in the round-off of a constant.
  const std::vector<ScalarComponent> components{with_inlet(0.05, 1.0), with_inlet(0.05, 0.3), with_inlet(0.3, 0.7)};
  Packing whole(self, 1, components), part(comm_, 1, components);
  for (Packing* p : {&whole, &part}) {
    p->stepper.set_values(p->state, 0, second_pulse);
    p->stepper.set_values(p->state, 1, [](const Vec3&) { return 0.301; });
  }
  const std::size_t first = part.composite->numbering().first();
  const std::size_t n = part.stepper.grid().n_own;
  const std::vector<double> potential = whole.stepper.flow_potential();
  FaceField flow = test::stream_through(part.stepper.grid(), {1.0, 0.2, -0.3});
  part.stepper.set_flow(flow, std::span(potential).subspan(first, n));
  const double dt = 0.5 * whole.stepper.largest_step();
  EXPECT_EQ(dt, 0.5 * part.stepper.largest_step());
  TransportReport report;
  for (int step = 0; step < steps; ++step) {
    whole.stepper.advance(whole.state, dt, report);
    EXPECT_GT(report.limited_faces, 0);
    part.stepper.advance(part.state, dt, report);
    std::int64_t other_looks = 0;
    double most_looks = 0.0;  // more than one pass, and not more than there were, the last of which changes nothing
    for (std::size_t v = 0; v < n; ++v) {
      const std::uint32_t looks = part.stepper.limiter_work().looks[v];
      other_looks += looks != whole.stepper.limiter_work().looks[first + v] ? 1 : 0;
      most_looks = std::max(most_looks, static_cast<double>(looks) / static_cast<double>(components.size()));
    }
    EXPECT_EQ(comm_.sum(other_looks), 0);
    EXPECT_GT(comm_.max(most_looks), 1.0);
    EXPECT_LE(comm_.max(most_looks), report.passes + 1);
  }
  std::int64_t others = 0;
  for (std::size_t c = 0; c < whole.state.values.size(); ++c)
    for (std::size_t v = 0; v < n; ++v) others += part.state.values[c][v] != whole.state.values[c][first + v] ? 1 : 0;
  EXPECT_EQ(comm_.sum(others), 0);
}

// A constant stays what it is to the last bits, with walls, levels, flow and diffusion.
TEST_F(TransportStepperTest, ConstantStaysConstant) {
  Packing p(comm_, 2, {with_inlet(0.3, 2.5)});
  p.stepper.set_values(p.state, 0, [](const Vec3&) { return 2.5; });
  March run;
  p.march_steps(4, 0.5, run);
  EXPECT_NEAR(run.least, 2.5, 1e-13);
  EXPECT_NEAR(run.largest, 2.5, 1e-13);
}

// c' = s - λ c without flow, exactly, and told in the balance.
TEST_F(TransportStepperTest, DecayAndSourceAreExact) {
  ScalarComponent c;
  c.decay = 0.7;
  c.source = 0.3;
  const auto composite =
      test::composite_of(comm_, test::flow_grid(Index::all(8)), *make_level_set(Sphere{{4, 4, 4}, 2}));
  TransportStepper stepper(composite, {c});
  TransportState state = test::full_at_rest(stepper);
  TransportReport report;
  for (int i = 0; i < 4; ++i) stepper.advance(state, 0.5, report);
  const double exact = std::exp(-1.4) + 0.3 / 0.7 * (1.0 - std::exp(-1.4));
  EXPECT_NEAR(report.components[0].least, exact, 1e-14);
  EXPECT_NEAR(report.components[0].largest, exact, 1e-14);
  EXPECT_LT(report.components[0].imbalance, 1e-14);
  EXPECT_NEAR(report.components[0].source / report.components[0].content, 0.3 * 0.5 / exact, 1e-12);
}

TEST_F(TransportStepperTest, RefusesWhatItCannotCarry) {
  const auto composite =
      test::composite_of(comm_, test::flow_grid(Index::all(8)), *make_level_set(Sphere{{4, 4, 4}, 2}));
  ScalarComponent wrong;
  wrong.name = "salt";
  wrong.diffusivity = -1.0;
  wrong.decay = std::nan("");
  EXPECT_EQ(mistakes({wrong}).size(), 2u);
  EXPECT_THROW(TransportStepper(composite, {wrong}), Error);
  TransportStepper stepper(composite, {ScalarComponent{}});
  TransportState state = stepper.make_state();
  TransportReport report;
  EXPECT_THROW(stepper.advance(state, 1.0, report), Error);  // no flow
  FaceField flow(composite);
  test::set_uniform(flow, {1.0, 0.0, 0.0});
  EXPECT_THROW(stepper.set_flow(flow), Error);  // it ends at the wall
}

}  // namespace
}  // namespace karst::transport_stepper_test
