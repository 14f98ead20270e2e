// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/steady_transport.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"
#include "support/shear_cases.hpp"

namespace karst::steady_transport_test {
namespace {

std::unique_ptr<LevelSet> nothing() { return make_level_set(Sphere{{-99.0, 0.0, 0.0}, 1.0}); }

/// A channel along x of half gap `half` about y = middle: its flow of mean speed over [lo, hi] of a face, largest 1.
double mean_speed(double lo, double hi, double middle, double half) {
  const auto integral = [&](double y) {
    const double e = std::clamp((y - middle) / half, -1.0, 1.0);
    return half * (e - e * e * e / 3.0);
  };
  return (integral(hi) - integral(lo)) / (hi - lo);
}

class SteadyTransportTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  struct Errors {
    double mean = 0.0, wall = 0.0;
    int iterations = 0;
  };

  // Reactive channel with axial diffusion, u = U (1 - η²), η = y / h: c = exp(-a x / h - b η² / 2) solves it exactly
  // with a = √(b (1 - b)), U h / D = b² / a, k h / D = b. Walls: two plates, cut cells of κ = 0.8, or the sides of the
  // domain.
  Errors reactive_channel(double b, int n, bool plates) {
    const double offset = plates ? 0.3 : 0.0;  // of the walls, into the cells of the outermost rows
    const int rows = plates ? n + 2 : n;
    const double middle = 0.5 * rows, half = plates ? 0.5 * rows - 1.0 + offset - 0.0 : 0.5 * n;
    const double a = std::sqrt(b * (1.0 - b)), peclet = b * b / a;
    const auto exact = [=](const Vec3& x) {
      const double e = (x[1] - middle) / half;
      return std::exp(-a * x[0] / half - 0.5 * b * e * e);
    };
    GridOptions grid = test::diffusion_grid({2 * n, rows, 1}, {false, false, true});
    LevelSetParts walls;
    walls.push_back(make_level_set(HalfSpace{{0.0, middle - half, 0.0}, {0.0, 1.0, 0.0}}));
    walls.push_back(make_level_set(HalfSpace{{0.0, middle + half, 0.0}, {0.0, -1.0, 0.0}}));
    const Geometry geometry =
        build_geometry(comm_, grid, plates ? *union_of_solids(std::move(walls)) : *nothing(), KeepPores::all);
    EllipticProblem problem;
    const ConditionAt reacts = [&](const Vec3&) { return robin(b / half, 0.0); };
    problem.sides[0] = problem.sides[1] = [&](const Vec3& x) { return dirichlet(exact(x)); };
    if (plates) {
      problem.wall = [&](const WallPiece&) { return robin(b / half, 0.0); };
    } else {
      problem.sides[2] = problem.sides[3] = reacts;
    }
    EllipticOperator op(test::composite_on(comm_, geometry), problem, Faces::keep);
    FaceField flow = test::flow_along(test::composite_on(comm_, geometry), 0, [&](const Vec3& lo, const Vec3& hi) {
      return mean_speed(lo[1], hi[1], middle, half);
    });
    SteadyTransport transport(op, flow, peclet / half, {.tolerance = 1e-10});
    std::vector<double> c(op.numbering().n_own(), 0.0);
    Errors errors;
    errors.iterations = transport.solve({}, c).iterations;
    const std::vector<Vec3> at = op.positions();
    std::array<double, 2> sums{};
    for (std::size_t v = 0; v < c.size(); ++v) {
      sums[0] += (c[v] - exact(at[v])) * (c[v] - exact(at[v]));
      sums[1] += 1.0;
    }
    comm_.sum(std::span(sums));
    errors.mean = std::sqrt(sums[0] / sums[1]);
    if (!plates) return errors;
    // Through both walls: 2 (k/D) ∫ exp(-a x / h - b / 2) dx, z one cell.
    EllipticFluxes fluxes(op);
    FaceField faces(op.composite());
    WallField wall(op.composite());
    fluxes.find(c, faces, wall);
    double found = 0.0;
    for (const double f : wall.level(0)) found += f;
    const double length = 2.0 * n, flux = 2.0 * b * std::exp(-0.5 * b) * (1.0 - std::exp(-a * length / half)) / a;
    errors.wall = std::abs(comm_.sum(found) / flux - 1.0);
    return errors;
  }
};

TEST_F(SteadyTransportTest, OfAReactiveChannelIsOfSecondOrderMpi) {
  for (const double b : {0.5, 0.99})
    for (const bool plates : {false, true}) {
      const Errors coarse = reactive_channel(b, 32, plates), fine = reactive_channel(b, 64, plates);
      EXPECT_LT(fine.mean, 2e-5) << b << plates;
      EXPECT_GT(std::log2(coarse.mean / fine.mean), 1.8) << b << plates;
      EXPECT_LE(fine.iterations, 25);
      if (!plates) continue;
      EXPECT_LT(fine.wall, 1.2e-4) << b;
      EXPECT_GT(std::log2(coarse.wall / fine.wall), 1.8) << b;
    }
}

// What flows in with a given value is a diagonal on all levels of the cycle, as what flows out of each volume is.
// Without it the cycle overestimates what is the same everywhere, by the cell Péclet number times powers of the coarse
// factors: 94 iterations here at a cell Péclet number of 200, and none converged in channels of 256 x 64 x 16 cells
// at 20.
TEST_F(SteadyTransportTest, InletsOfLongChannelsMpi) {
  const int n = 64, length = 256;
  const double half = 0.5 * n;
  const Geometry geometry =
      build_geometry(comm_, test::diffusion_grid({length, n, 1}, {false, false, true}), *nothing(), KeepPores::all);
  FaceField flow = test::flow_along(test::composite_on(comm_, geometry), 0, [&](const Vec3& lo, const Vec3& hi) {
    return mean_speed(lo[1], hi[1], half, half);
  });
  for (const double peclet : {0.2, 2.0, 20.0, 200.0})  // of a cell, with the mean velocity
    for (const bool carried : {true, false}) {
      EllipticProblem problem;
      problem.sides[2] = problem.sides[3] = [&](const Vec3&) { return robin(0.3 / half, 0.0); };
      SteadyTransportOptions options;
      (carried ? options.carried : problem.sides)[0] = [](const Vec3&) { return dirichlet(1.0); };
      EllipticOperator op(test::composite_on(comm_, geometry), problem, Faces::keep);
      SteadyTransport transport(op, flow, 1.5 * peclet, options);
      std::vector<double> c(op.numbering().n_own(), 0.0);
      EXPECT_LE(transport.solve({}, c).iterations, 30) << peclet << carried;
    }
}

// Fully developed mass transfer in a channel of half gap h with a first-order reaction at its walls, Da = k h / D:
// Sherwood number with the hydraulic diameter 4 h. Own reference numbers; the limit of fast reactions is the classical
// 7.54070 (R. K. Shah & A. L. London, Laminar Flow Forced Convection in Ducts, Academic Press 1978).
TEST_F(SteadyTransportTest, SherwoodNumbersOfAChannelMpi) {
  const int n = 32, length = 256;
  const double half = 0.5 * n, peclet = 40.0;  // with the mean velocity and 4 h
  constexpr double fast = 1e9;
  for (const auto& [damkoehler, exact] :
       {std::array{0.1, 8.20228}, std::array{1.0, 8.0}, std::array{10.0, 7.64976}, std::array{fast, 7.54070}}) {
    const double rate = damkoehler / half;
    const Geometry geometry =
        build_geometry(comm_, test::diffusion_grid({length, n, 1}, {false, false, true}), *nothing(), KeepPores::all);
    EllipticProblem problem;
    problem.sides[0] = [](const Vec3&) { return dirichlet(1.0); };
    problem.sides[2] = problem.sides[3] = [&](const Vec3&) { return robin(rate, 0.0); };
    EllipticOperator op(test::composite_on(comm_, geometry), problem, Faces::keep);
    FaceField flow = test::flow_along(test::composite_on(comm_, geometry), 0, [&](const Vec3& lo, const Vec3& hi) {
      return 1.5 * mean_speed(lo[1], hi[1], half, half);
    });
    SteadyTransport transport(op, flow, peclet / (4.0 * half), {.tolerance = 1e-10});
    std::vector<double> c(op.numbering().n_own(), 1.0);
    EXPECT_LE(transport.solve({}, c).iterations, 40);
    std::array<double, 2> sums{};  // of the flow's mixture, and into one wall, in a plane far downstream
    const std::vector<Vec3> at = op.positions();
    for (std::size_t v = 0; v < c.size(); ++v) {
      if (std::abs(at[v][0] - 0.9 * length) > 0.5) continue;
      sums[0] += c[v] * 1.5 * mean_speed(at[v][1] - 0.5, at[v][1] + 0.5, half, half) / n;
      if (at[v][1] < 1.0) sums[1] += c[v] / (0.5 + 1.0 / rate);
    }
    comm_.sum(std::span(sums));
    EXPECT_NEAR(sums[1] * 4.0 * half / (sums[0] - sums[1] / rate) / exact, 1.0, 5e-3) << damkoehler;
  }
}

// At rest, a wall with the flux k c² at the distance L from c = 1: D (1 - c_w) / L = k c_w², and c is linear. Newton's
// method finds it in a few steps; the law r = k c in one and the step that sees it.
TEST_F(SteadyTransportTest, LawsOfTheWallThatAreNotLinearMpi) {
  const double distance = 12.7, k = 3.0;
  const Geometry geometry =
      build_geometry(comm_, test::diffusion_grid({16, 8, 8}, {false, true, true}),
                     *make_level_set(HalfSpace{{distance, 0.0, 0.0}, {-1.0, 0.0, 0.0}}), KeepPores::all);
  EllipticProblem problem;
  problem.sides[0] = [](const Vec3&) { return dirichlet(1.0); };
  problem.wall = [](const WallPiece&) { return robin(1.0, 0.0); };
  EllipticOperator op(test::composite_on(comm_, geometry), problem, Faces::keep);
  FaceField still(test::composite_on(comm_, geometry));
  SteadyTransport transport(op, still, 0.0, {.tolerance = 1e-12});
  const auto expect = [&](const WallLaw& law, double at_wall, int most_steps) {
    std::vector<double> c(op.numbering().n_own(), 1.0);
    const WallLawReport report = solve_wall_law(transport, op, law, c, 1e-9);
    EXPECT_LE(report.steps, most_steps);
    const std::vector<Vec3> at = op.positions();
    for (std::size_t v = 0; v < c.size(); ++v)
      EXPECT_NEAR(c[v], 1.0 - (1.0 - at_wall) * at[v][0] / distance, 1e-8) << at[v][0];
  };
  const double by_length = k * distance;
  expect(
      [&](double c, const WallPiece&) {
        return WallRate{k * c * c, 2.0 * k * c};
      },
      (std::sqrt(1.0 + 4.0 * by_length) - 1.0) / (2.0 * by_length), 9);
  expect([&](double c, const WallPiece&) { return WallRate{k * c, k}; }, 1.0 / (1.0 + by_length), 2);
  const std::string text = test::error_of([&] {
    std::vector<double> c(op.numbering().n_own(), 1.0);
    solve_wall_law(
        transport, op,
        [&](double x, const WallPiece&) {
          return WallRate{k * x * x, 2.0 * k * x};
        },
        c, 1e-9, 2);
  });
  EXPECT_TRUE(test::has(text, "after 2 steps")) << text;
}

}  // namespace
}  // namespace karst::steady_transport_test
