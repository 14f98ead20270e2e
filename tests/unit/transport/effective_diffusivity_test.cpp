// SPDX-License-Identifier: BSD-3-Clause
#include "transport/effective_diffusivity.hpp"

#include <gtest/gtest.h>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"

namespace karst::effective_diffusivity_test {
namespace {

using test::along;
using test::diffusion_grid;

class EffectiveDiffusivityTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  std::vector<DiffusionColumn> solve(const GridOptions& grid, const LevelSet& solid, const DiffusionOptions& options,
                                     KeepPores keep = KeepPores::all) {
    return effective_diffusivity(test::composite_on(comm_, build_geometry(comm_, grid, solid, keep)), options);
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

// Entries off the diagonal of columns that an earlier run has solved, of which it has kept concentrations alone, have
// the bits of those that are solved now.
TEST_F(EffectiveDiffusivityTest, OfKeptColumnsIsTheSameMpi) {
  const auto ball = make_level_set(Sphere{{7.3, 8.2, 8.4}, 6.1});
  const GridOptions grid = diffusion_grid({16, 16, 16}, periodic);
  const auto composite = test::composite_on(comm_, build_geometry(comm_, grid, *ball, KeepPores::all));
  const DiffusionOptions options = along({0, 2});
  const DiffusionWatch nobody;
  DiffusionSolver solver(composite, options, nobody);
  std::vector<DiffusionColumn> columns;
  for (const int axis : {0, 2}) columns.push_back(solver.solve(axis));
  solver.complete(columns);
  const double whole = columns[0].tensor[2];
  columns[0].through_middle.reset();
  solver.complete(columns);
  EXPECT_EQ(columns[0].tensor[2], whole);
}

// Discs of a periodic array that leave gaps of a third of a cell: no cell centre lies in one, so that nothing flows,
// but species diffuse. On 64² cells, which hold the gaps, the tortuosity is 3.37; the porosity is 1 - π 0.49². It was
// -1e-15.
TEST_F(EffectiveDiffusivityTest, ThroughThroatsWithoutACellCentreMpi) {
  const auto disc =
      test::DistanceFunction([](const Vec3& x) { return std::hypot(x[0] - 8.0, x[1] - 8.0) - 0.49 * 16; });
  const auto columns = solve(diffusion_grid({16, 16, 1}, periodic), disc, along({0}));
  EXPECT_TRUE(columns[0].unresolved);
  EXPECT_NEAR(columns[0].tortuosity, 3.37, 0.1);
}

// The plane through the ends cuts the array where c is constant by symmetry, so a cell of it between ends is the
// periodic array.
TEST_F(EffectiveDiffusivityTest, OfASimpleCubicArrayMpi) {
  const int n = 32;
  for (const double solid : {0.1, 0.3}) {
    const double radius = n * std::cbrt(0.75 * solid / std::numbers::pi), exact = test::simple_cubic_diffusivity(solid);
    const auto sphere = make_level_set(Sphere{Vec3::all(0.5 * n), radius});
    const auto cell = solve(diffusion_grid(Index::all(n)), *sphere, along({0, 1, 2}));
    const auto array = solve(diffusion_grid(Index::all(n), periodic), *sphere, along({0, 1, 2}));
    for (std::size_t i = 0; i < 3; ++i) {
      const int d = cell[i].axis;
      EXPECT_NEAR(cell[i].tensor[d] / exact, 1.0, 1e-3);
      EXPECT_NEAR(cell[i].tensor[d] / array[i].tensor[d], 1.0, 1e-9);
      EXPECT_LT(cell[i].imbalance(), 1e-9);
      EXPECT_LT(array[i].imbalance(), 1e-9);
      EXPECT_LE(cell[i].solve.iterations, 18);
      EXPECT_LE(array[i].solve.iterations, 18);
      EXPECT_EQ(array[i].repairs.wide_rows, array[0].repairs.wide_rows);
      EXPECT_GT(array[i].repairs.faces_at_centroid, 0);
      EXPECT_EQ(array[i].repairs.level_faces, 0);
      EXPECT_NEAR(cell[i].tortuosity / ((1.0 - solid) * cell[i].formation_factor), 1.0, 1e-3);
      for (int e = 0; e < 3; ++e) EXPECT_NEAR(array[i].tensor[e], e == d ? exact : 0.0, 1e-3) << e;
    }
  }
}

/// Round tubes along z of different radii, apart from each other, not in step with the grid.
std::unique_ptr<LevelSet> tubes() {
  LevelSetParts cavities;  // complement(union of cylinders) by hand: solid outside of all
  for (const auto& [x, y, r] : {std::array{8.3, 9.1, 5.2}, {23.7, 8.6, 4.1}, {16.2, 23.4, 6.7}})
    cavities.push_back(make_level_set(Cylinder{frame_along({x, y, 0.0}, {0, 0, 1}), r}));
  return complement(union_of_solids(std::move(cavities)));
}

/// Mean open area of the planes of cells across z / cross-section.
double open_share(const Comm& comm, const Geometry& geometry) {
  const LevelGeometry& level = geometry.levels[0];
  double sum = 0.0;
  for (int b = 0; b < level.graph.n_local(); ++b)
    for_each_face(level.graph.box(b), level.box(b), [&](const FaceView& f) {
      if (f.side == low_side(2)) sum += f.aperture;
    });
  return comm.sum(sum) / static_cast<double>(level.graph.layout().domain().box().count());
}

// In straight tubes c is linear: D / D0 is the open share of the cross-section.
TEST_F(EffectiveDiffusivityTest, OfStraightTubesIsTheOpenAreaMpi) {
  const auto walls = tubes();
  const double open = std::numbers::pi * (5.2 * 5.2 + 4.1 * 4.1 + 6.7 * 6.7) / (32.0 * 32.0);
  for (const auto& sides : {std::array<bool, 3>{}, {false, false, true}}) {
    const Geometry geometry = build_geometry(comm_, diffusion_grid({32, 32, 24}, sides), *walls, KeepPores::all);
    const auto columns = effective_diffusivity(test::composite_on(comm_, geometry), along({0, 2}));
    EXPECT_FALSE(columns[0].connected);
    EXPECT_EQ(columns[0].tensor, Vec3{});
    EXPECT_TRUE(std::isinf(columns[0].formation_factor));
    EXPECT_NEAR(columns[1].tensor[2] / open_share(comm_, geometry), 1.0, 1e-9);
    EXPECT_NEAR(columns[1].tensor[2] / open, 1.0, 6e-3);  // chords instead of arcs
    EXPECT_NEAR(columns[1].tortuosity, 1.0, 3e-3);
    for (int e = 0; e < 2; ++e) EXPECT_NEAR(columns[1].tensor[e], 0.0, 1e-9);
    if (sides[2]) continue;
    const std::size_t n = columns[1].concentration.size();
    for (std::size_t v = 0; v < n; ++v) {
      EXPECT_GT(columns[1].concentration[v], 0.0);
      EXPECT_LT(columns[1].concentration[v], 1.0);
    }
  }
}

/// Overlapping balls that repeat with the domain, turned round by a permutation of the axes.
std::unique_ptr<LevelSet> turned_packing(int n, bool repeated, const std::array<int, 3>& axis_of) {
  test::Random random(11);
  std::vector<Sphere> spheres;
  for (int i = 0; i < 40; ++i) {
    const Vec3 x{n * random(), n * random(), n * random()};
    Vec3 turned;
    for (int d = 0; d < 3; ++d) turned[axis_of[d]] = x[d];
    spheres.push_back({turned, 0.19 * n});
  }
  return make_sphere_list(spheres, {Vec3::all(n), {repeated, repeated, repeated}});
}

// The tensor of a turned sample is the turned tensor. (Ties between neighbours of small pieces are broken in the order
// of the axes, so not to round-off.)
TEST_F(EffectiveDiffusivityTest, TurnsWithTheSample) {
  const int n = 32;
  const std::array<int, 3> axis_of{2, 0, 1};
  for (const bool repeated : {false, true}) {
    const GridOptions grid = diffusion_grid(Index::all(n), {repeated, repeated, repeated});
    const auto upright = solve(grid, *turned_packing(n, repeated, {0, 1, 2}), along({0, 1, 2}));
    for (const DiffusionColumn& c : upright)
      for (std::size_t v = 0; v < c.concentration.size(); ++v) ASSERT_TRUE(std::isfinite(c.concentration[v])) << v;
    const auto turned = solve(grid, *turned_packing(n, repeated, axis_of), along({0, 1, 2}));
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) {
        const auto turn = [&](int i) { return axis_of[i]; };
        EXPECT_NEAR(turned[turn(d)].tensor[turn(e)], upright[d].tensor[e], 2e-3 * upright[0].tensor[0])
            << d << " " << e;
      }
  }
}

// The same numbers for any number of ranks (of the one-rank run), threads and box size.
TEST_F(EffectiveDiffusivityTest, DoesNotDependOnRanksThreadsAndBoxesMpi) {
  const int n = 32, threads = n_threads();
  for (const bool repeated : {false, true}) {
    const auto packing = turned_packing(n, repeated, {0, 1, 2});
    const std::array<bool, 3> sides{repeated, repeated, repeated};
    const auto alone = effective_diffusivity(
        test::composite_on(Comm::self(), build_geometry(Comm::self(), diffusion_grid(Index::all(n), sides), *packing,
                                                        KeepPores::connected)),
        along({0, 2}));
    for (const auto& [box, t] : std::array<std::pair<int, int>, 3>{{{8, 1}, {16, 2}, {32, 1}}}) {
      set_n_threads(t);
      const auto columns =
          solve(diffusion_grid(Index::all(n), sides, box), *packing, along({0, 2}), KeepPores::connected);
      set_n_threads(threads);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_LT(columns[i].imbalance(), 1e-9);
        for (const int e : {0, 2})
          EXPECT_NEAR(columns[i].tensor[e], alone[i].tensor[e], 1e-9 * alone[i].tensor[alone[i].axis])
              << "box " << box << ", threads " << t;
      }
    }
  }
}

// Without and with a refined level, which the fluxes cross.
TEST_F(EffectiveDiffusivityTest, OfRefinedLevelsAloneByDay) {
  const double solid = 0.3, exact = test::simple_cubic_diffusivity(solid);
  for (const bool repeated : {false, true}) {
    GridOptions grid = test::grid_of(32, 2, repeated);
    const auto sphere = make_level_set(Sphere{Vec3::all(16.0), 32 * std::cbrt(0.75 * solid / std::numbers::pi)});
    const auto columns = solve(grid, *sphere, along({1}));
    EXPECT_NEAR(columns[0].tensor[1] / exact, 1.0, 5e-4);
    EXPECT_GT(columns[0].repairs.level_faces, 0);
    EXPECT_LT(columns[0].imbalance(), 1e-9);
  }
}

// Pores that touch one end or none, or lie across a periodic end without leading anywhere, carry nothing and do no
// harm.
TEST_F(EffectiveDiffusivityTest, DeadPoresCarryNothingMpi) {
  const auto pores = [](bool tube) {
    LevelSetParts cavities;
    if (tube) cavities.push_back(make_level_set(Cylinder{frame_along({9.2, 8.7, 0.0}, {0, 0, 1}), 5.3}));
    cavities.push_back(make_level_set(Sphere{{23.0, 22.1, 16.2}, 6.4}));  // closed
    cavities.push_back(make_level_set(Sphere{{23.4, 7.9, 0.0}, 5.1}));    // at both ends, or across them
    cavities.push_back(make_level_set(Sphere{{23.4, 7.9, 32.0}, 5.1}));
    return complement(union_of_solids(std::move(cavities)));
  };
  for (const bool repeated : {false, true}) {
    const GridOptions grid = diffusion_grid(Index::all(32), {false, false, repeated});
    const auto columns = solve(grid, *pores(true), along({2}));
    const DiffusionColumn& column = columns[0];
    EXPECT_NEAR(column.tensor[2] / (std::numbers::pi * 5.3 * 5.3 / 1024), 1.0, 6e-3);
    EXPECT_LT(column.imbalance(), 1e-9);
    if (!repeated) continue;
    const auto closed = solve(grid, *pores(false), along({2}, 1e-8));
    EXPECT_FALSE(closed[0].connected);
    EXPECT_EQ(closed[0].tensor, Vec3{});
  }
}

// Layers of normal (1, 1, 0) between ends across z, which the sides x and y cut open: D = porosity, nothing sideways.
TEST_F(EffectiveDiffusivityTest, BetweenEndsOfAPeriodicSampleMpi) {
  const auto columns =
      solve(diffusion_grid({32, 32, 16}, {true, true, false}), *test::slanted_layers(32, 2), along({2}));
  for (int e = 0; e < 3; ++e) EXPECT_NEAR(columns[0].tensor[e], e == 2 ? 0.5 : 0.0, 1e-9);
}

// Nothing leads along any of the axes: 0, and no solve.
TEST_F(EffectiveDiffusivityTest, WhereNothingLeadsTheDiffusivityIsZeroMpi) {
  const auto columns = solve(diffusion_grid({32, 32, 16}), *tubes(), along({0, 1}));
  ASSERT_EQ(columns.size(), 2U);
  for (const DiffusionColumn& c : columns) {
    EXPECT_FALSE(c.connected);
    EXPECT_EQ(c.tensor[c.axis], 0.0);
    EXPECT_TRUE(std::isinf(c.formation_factor));
  }
}

TEST_F(EffectiveDiffusivityTest, MistakesAreNamedBeforeAnySolveMpi) {
  using test::has;
  const auto error_of = [&](const GridOptions& grid, const LevelSet& solid, std::vector<int> axes) {
    return test::error_of([&] { solve(grid, solid, along(std::move(axes))); });
  };
  const auto sphere = make_level_set(Sphere{{8, 4, 8}, 3});
  const std::string brief = error_of(diffusion_grid({8, 16, 16}), *sphere, {0});
  EXPECT_TRUE(has(brief, "8 cells long along x")) << brief;
  const std::string narrow = error_of(diffusion_grid({16, 8, 16}, periodic), *sphere, {0});
  EXPECT_TRUE(has(narrow, "periodic along y and 8 cells wide")) << narrow;
  const std::string flat = error_of(diffusion_grid({16, 16, 1}, periodic), *sphere, {0, 2});
  EXPECT_TRUE(has(flat, "z is one cell thick")) << flat;
}

// One cell thick and periodic: a 2-D problem, layers of normal (1, 1, 0) again.
TEST_F(EffectiveDiffusivityTest, InTwoDimensionsMpi) {
  const auto columns = solve(diffusion_grid({32, 32, 1}, periodic), *test::slanted_layers(32, 2), along({0, 1}));
  const double exact[2][3] = {{0.25, -0.25, 0.0}, {-0.25, 0.25, 0.0}};
  for (const DiffusionColumn& c : columns)
    for (int e = 0; e < 3; ++e) EXPECT_NEAR(c.tensor[e], exact[c.axis][e], 1e-9);
}

TEST_F(EffectiveDiffusivityTest, DoesNotDependOnTheUnitOfLengthMpi) {
  const auto metre = effective_diffusivity(test::composite_on(comm_, test::described(comm_, 1.0)), along({0, 1, 2}));
  const auto micron = effective_diffusivity(test::composite_on(comm_, test::described(comm_, 1e-6)), along({0, 1, 2}));
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(metre[d].solve.iterations, micron[d].solve.iterations);
    EXPECT_NEAR(metre[d].formation_factor / micron[d].formation_factor, 1.0, 1e-10);
    for (int e = 0; e < 3; ++e) EXPECT_NEAR(metre[d].tensor[e], micron[d].tensor[e], 1e-10);
  }
}

TEST_F(EffectiveDiffusivityTest, TellsOfEveryIterationMpi) {
  const auto sphere = make_level_set(Sphere{Vec3::all(8.0), 5.0});
  for (const bool repeated : {false, true}) {
    const Geometry geometry =
        build_geometry(comm_, diffusion_grid(Index::all(16), {repeated, repeated, repeated}), *sphere, KeepPores::all);
    std::vector<std::string> solves;
    double last = 1.0;
    int iterations = 0;
    const DiffusionWatch watch = [&](const std::string& solve, int n, double residual) {
      if (n == 0) solves.push_back(solve);
      iterations += n > 0;
      last = residual;
    };
    const auto columns = effective_diffusivity(test::composite_on(comm_, geometry), along({0, 2}, 1e-8), watch);
    EXPECT_EQ(solves, (std::vector<std::string>{columns[0].solve.name, columns[1].solve.name}));
    EXPECT_EQ(solves, (std::vector<std::string>{"diffusion x", "diffusion z"}));
    EXPECT_LT(last, 1e-8);
    EXPECT_EQ(iterations, columns[0].solve.iterations + columns[1].solve.iterations);
    EXPECT_GT(columns[0].solve.setup_seconds, 0.0);
    EXPECT_EQ(columns[1].solve.setup_seconds == 0.0, repeated);  // shared by periodic directions
  }
}

}  // namespace
}  // namespace karst::effective_diffusivity_test
