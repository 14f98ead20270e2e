// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/dispersion.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
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
                     return test::flow_along(composite_on(comm_, geometry), axis, [&](const Vec3& lo, const Vec3& hi) {
                       return 3e-7 * (1.0 + test::mean_sine(lo[1 - axis], hi[1 - axis], n));
                     });
                   }};
  DispersionOptions options;
  options.tolerance = 1e-10;
  std::vector<std::string> solved;
  DispersionWatch watch;
  watch.solved = [&](int axis, const DispersionPoint& p) { solved.push_back(dispersion_solve_name(axis, p.peclet)); };
  watch.known = [&](int axis, double peclet) -> std::optional<DispersionPoint> {
    if (axis != 1 || peclet != 1.0) return {};
    return DispersionPoint{.peclet = 1.0, .tensor = {}, .iterations = 77};
  };
  for (const bool transverse : {true, false}) {
    options.transverse = transverse;
    solved.clear();
    const auto columns = dispersion(comm_, geometry, options, n, flows, watch);
    ASSERT_EQ(columns.size(), 2u);
    EXPECT_EQ(solved, (std::vector<std::string>{"dispersion x Pe 1", "dispersion x Pe 20", "dispersion y Pe 20"}));
    EXPECT_EQ(columns[1].points[0].iterations, 77);
    for (const DispersionColumn& c : columns) {
      const Matrix3& t = c.points[1].tensor;
      const double exact = 1.0 + 400.0 / (8.0 * std::numbers::pi * std::numbers::pi);
      EXPECT_NEAR(t[c.axis][c.axis], exact, 1e-6);
      const double across = t[1 - c.axis][1 - c.axis];
      EXPECT_EQ(std::isnan(across), !transverse);
      if (transverse) {
        EXPECT_NEAR(across, 1.0, 1e-7);
      }
    }
  }
}

TEST_F(DispersionTest, OfAnAxisAlongWhichNothingFlowsIsNone) {
  const Geometry geometry = free_fluid({16, 16, 1}, {true, true, true});
  const auto columns = dispersion(comm_, geometry, {}, 1.0, {{0, {1.0}, {}}});
  EXPECT_FALSE(columns.at(0).connected);
  EXPECT_TRUE(columns.at(0).points.empty());
  const auto still = [&] { return FaceField(composite_on(comm_, geometry)); };
  const std::string text = test::error_of([&] { dispersion(comm_, geometry, {}, 1.0, {{0, {1.0}, still}}); });
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
