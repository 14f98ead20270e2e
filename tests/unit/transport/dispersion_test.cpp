// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/dispersion.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"
#include "support/shear_cases.hpp"

namespace karst::dispersion_test {
namespace {

class DispersionTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  Geometry free_fluid(const Index& cells, std::array<bool, 3> periodic) {
    return build_geometry(comm_, test::diffusion_grid(cells, periodic), *make_level_set(Sphere{{-99.0, 0.0, 0.0}, 1.0}),
                          KeepPores::all);
  }
};

// Each axis has its flow, whose speed does not matter, and starts from what it knows.
TEST_F(DispersionTest, OfAxesAndPecletNumbersMpi) {
  const int n = 16;
  const Geometry geometry = free_fluid({n, n, 1}, {true, true, true});
  std::vector<DispersionFlow> flows(2);
  for (const int axis : {0, 1})
    flows[axis] = {axis, {1.0, 20.0}, [&, axis] {
                     return test::flow_along(test::composite_on(comm_, geometry), axis,
                                             [&](const Vec3& lo, const Vec3& hi) {
                                               return 3e-7 * (1.0 + test::mean_sine(lo[1 - axis], hi[1 - axis], n));
                                             });
                   }};
  DispersionOptions options;
  options.tolerance = 1e-10;
  for (const bool transverse : {true, false}) {
    options.transverse = transverse;
    std::string told;
    DispersionSolver solver(test::ground_on(comm_, geometry), options, n,
                            [&](const std::string& solve, int, double) { told = solve; });
    for (const DispersionFlow& flow : flows) {
      if (flow.axis == 0) {  // of the other axis the first is known
        EXPECT_GT(solver.solve(flow, 1.0).setup_seconds, 0.0);
      }
      const DispersionPoint p = solver.solve(flow, 20.0);
      EXPECT_EQ(told, dispersion_solve_name(flow.axis, 20.0));
      EXPECT_EQ(p.setup_seconds == 0.0, flow.axis == 0);
      const Matrix3& t = p.tensor;
      const double exact = 1.0 + 400.0 / (8.0 * std::numbers::pi * std::numbers::pi);
      EXPECT_NEAR(t[flow.axis][flow.axis], exact, 1e-6);
      const double across = t[1 - flow.axis][1 - flow.axis];
      EXPECT_EQ(std::isnan(across), !transverse);
      if (transverse) {
        EXPECT_NEAR(across, 1.0, 1e-7);
      }
    }
  }
}

TEST_F(DispersionTest, WithoutFlowNothingIsSolved) {
  const Geometry geometry = free_fluid({16, 16, 1}, {true, true, true});
  const DispersionOptions options;
  const auto still = [&] { return FaceField(test::composite_on(comm_, geometry)); };
  DispersionSolver solver(test::ground_on(comm_, geometry), options, 1.0);
  const std::string text = test::error_of([&] { solver.solve({0, {1.0}, still}, 1.0); });
  EXPECT_TRUE(test::has(text, "mean velocity along x")) << text;
}

TEST_F(DispersionTest, MistakesAreToldBeforeAnySolve) {
  const auto told = [&](const Index& cells, std::array<bool, 3> periodic, const char* part) {
    DispersionOptions options;
    options.axes = {0};
    std::string all;
    for (const std::string& m : mistakes(options, free_fluid(cells, periodic))) all += m + "\n";
    EXPECT_TRUE(test::has(all, part)) << all;
  };
  told({16, 16, 16}, {false, true, true}, "not periodic along x");
  told({8, 16, 16}, {true, true, true}, "8 cells wide");
  told({1, 16, 16}, {true, true, true}, "one cell thick");
  told({16, 16, 16}, {true, true, true}, "dispersion.length");
}

// 6 V / S of equal spheres is their diameter.
TEST_F(DispersionTest, GrainDiameterIsThatOfTheSphere) {
  const double radius = 9.3;
  const auto sphere = make_level_set(Sphere{{16.1, 15.8, 16.3}, radius});
  const Geometry geometry =
      build_geometry(comm_, test::diffusion_grid(Index::all(32), {true, true, true}), *sphere, KeepPores::all);
  EXPECT_NEAR(grain_diameter(geometry.report), 2.0 * radius, 0.02 * radius);
}

}  // namespace
}  // namespace karst::dispersion_test
