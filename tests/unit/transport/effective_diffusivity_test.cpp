// SPDX-License-Identifier: BSD-3-Clause
#include "transport/effective_diffusivity.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "solvers/petsc_session.hpp"
#include "support/diffusion_cases.hpp"

namespace karst {
namespace {

using test::along;
using test::diffusion_grid;

class EffectiveDiffusivityTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  std::vector<DiffusionColumn> solve(const GridOptions& grid, const LevelSet& solid, const DiffusionOptions& options,
                                     KeepPores keep = KeepPores::all) {
    return effective_diffusivity(comm_, build_geometry(comm_, grid, solid, keep), options);
  }
};

constexpr std::array<bool, 3> periodic{true, true, true};

// Without solid nothing is in the way.
TEST_F(EffectiveDiffusivityTest, OfTheFreeFluidIsThatOfTheFluidMpi) {
  const auto nothing = make_level_set(Sphere{{-99.0, 0.0, 0.0}, 1.0});
  for (const auto& sides : {std::array<bool, 3>{}, periodic, {false, true, false}}) {
    const auto columns = solve(diffusion_grid({16, 24, 32}, sides), *nothing, along({0, 1, 2}));
    ASSERT_EQ(columns.size(), 3u);
    for (const DiffusionColumn& c : columns)
      for (int e = 0; e < 3; ++e) EXPECT_NEAR(c.tensor[e], e == c.axis ? 1.0 : 0.0, 1e-10) << c.axis << " " << e;
  }
}

// Layers of normal n = (1, 1, 0) / √2: D / D0 = porosity (1 - n nᵀ), for which c is linear and every flux exact.
TEST_F(EffectiveDiffusivityTest, OfSlantedLayersIsExactMpi) {
  const int n = 32;
  const auto columns = solve(diffusion_grid({n, n, 16}, periodic), *test::slanted_layers(n, 2), along({0, 1, 2}));
  const double exact[3][3] = {{0.25, -0.25, 0.0}, {-0.25, 0.25, 0.0}, {0.0, 0.0, 0.5}};
  for (const DiffusionColumn& c : columns) {
    for (int e = 0; e < 3; ++e) EXPECT_NEAR(c.tensor[e], exact[c.axis][e], 1e-9) << c.axis << " " << e;
    EXPECT_LT(c.imbalance(), 1e-9);
    EXPECT_LT(c.solve.iterations, 30);
  }
}

// The plane through the ends cuts the array where c is constant by symmetry, so a cell of it between ends is the
// periodic array.
TEST_F(EffectiveDiffusivityTest, OfASimpleCubicArrayMpi) {
  const int n = 32;
  for (const double solid : {0.1, 0.3}) {
    const double radius = n * std::cbrt(0.75 * solid / std::numbers::pi), exact = test::simple_cubic_diffusivity(solid);
    const auto sphere = make_level_set(Sphere{Vec3::all(0.5 * n), radius});
    const auto cell = solve(diffusion_grid(Index::all(n)), *sphere, along({0, 2}));
    const auto array = solve(diffusion_grid(Index::all(n), periodic), *sphere, along({0, 2}));
    for (std::size_t i = 0; i < 2; ++i) {
      const int d = cell[i].axis;
      EXPECT_NEAR(cell[i].tensor[d] / exact, 1.0, 1e-3);
      EXPECT_NEAR(cell[i].tensor[d] / array[i].tensor[d], 1.0, 1e-9);
      EXPECT_LT(cell[i].imbalance(), 1e-9);
      EXPECT_LT(array[i].imbalance(), 1e-9);
      EXPECT_LE(cell[i].solve.iterations, 18);
      EXPECT_LE(array[i].solve.iterations, 18);
      EXPECT_NEAR(cell[i].tortuosity / ((1.0 - solid) * cell[i].formation_factor), 1.0, 1e-3);
      for (int e = 0; e < 3; ++e) EXPECT_NEAR(array[i].tensor[e], e == d ? exact : 0.0, 1e-3) << e;
    }
  }
}

}  // namespace
}  // namespace karst
