// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/two_point.hpp"

#include <gtest/gtest.h>

#include "grid/halo_exchange.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "solvers/multigrid/fine_level.hpp"
#include "support/multigrid_cases.hpp"
#include "unit/solvers/two_point_amg.hpp"

namespace karst::two_point_test {
namespace {

// A plane wall at the distance 0.3 below the cell centre, whichever way it is turned.
TEST(TwoPoint, WallDistanceIsThatOfTheCellCentre) {
  VofMoments vof{};
  vof.wall = {0.0, 0.6, 0.8};
  vof.wall_centroid = -0.3 * vof.wall + Vec3{0.2, 0.8 * 0.1, -0.6 * 0.1};
  EXPECT_NEAR(wall_distance(vof), 0.3, 1e-15);
  vof.wall_centroid = 0.3 * vof.wall;  // the centre lies in the solid: the distance of the fluid's centroid
  vof.centroid = 0.5 * vof.wall;
  EXPECT_NEAR(wall_distance(vof), 0.2, 1e-15);
  vof.centroid = vof.wall_centroid;
  EXPECT_EQ(wall_distance(vof), smallest_wall_distance);
}

// Constants: A 1 = shift; with a and Dirichlet walls it is a κ V + β a_w / d, with a Dirichlet side 2 β per whole face.
TEST(TwoPoint, ConstantsGiveTheShiftsMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  EllipticProblem problem = test::problem_with(test::Walls::dirichlet);
  problem.a = 0.7;
  problem.beta = 3.0;
  FineLevel level(comm, make_two_point_level(comm, geometry, problem), 0);
  const std::vector<double> x(level.end_unknown(), 1.0);
  std::vector<double> y(x.size());
  level.product(x, y);
  double worst = 0.0;
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph g = geometry.graph.box(b);
    std::vector<double> expected(g.n_own, 0.7);
    for (int r = 0; r < g.n_irregular; ++r) {
      const VofMoments& m = geometry.box(b).moments[r];
      expected[g.row_vof[r]] = 0.7 * m.kappa + (m.wall_area > 0.0 ? 3.0 * m.wall_area / wall_distance(m) : 0.0);
    }
    const double* of_box = y.data() + geometry.graph.vof_begin(b);
    for (std::size_t v = 0; v < expected.size(); ++v)
      worst = std::max(worst, std::abs(of_box[v] - expected[v]) / (18.0 + expected[v]));
  }
  EXPECT_LT(comm.max(worst), 1e-6);  // weights are in single precision
}

/// β on all faces of a graph, from their direction and the place of the VoF on the high side.
Field beta_field(const Comm& comm, const LevelGraph& graph, double (*beta)(int direction, const Index& cell)) {
  Field field(graph, 3);
  for (int d = 0; d < 3; ++d) field.fill(beta(d, {}));  // ghosts at the high ends too
  for (int b = 0; b < field.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    for (int d = 0; d < 3; ++d)
      for_each_vof(g, [&](int vof, int cell) { field.box(b, d)[vof] = beta(d, g.cells.cell(cell)); });
  }
  fill_halo(comm, graph, field);
  return field;
}

// A field of β that is constant makes the operator of that constant.
TEST(TwoPoint, ConstantFieldOfBetaMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  EllipticProblem problem = test::problem_with(test::Walls::dirichlet);
  problem.sides[1] = [](const Vec3&) { return robin(0.4, 0.0); };
  problem.beta = 3.0;
  const TwoPointLevel constant = make_two_point_level(comm, geometry, problem);
  const Field beta = beta_field(comm, geometry.graph, [](int, const Index&) { return 3.0; });
  problem.face_beta = std::span(&beta, 1);
  const TwoPointLevel variable = make_two_point_level(comm, geometry, problem);
  const std::vector<double> x = test::random_values(std::span(&constant, 1));
  std::vector<double> y(x.size()), z(x.size());
  FineLevel(comm, constant, 0).product(x, y);
  FineLevel(comm, variable, 0).product(x, z);
  double worst = 0.0;
  for (std::size_t v = 0; v < x.size(); ++v) worst = std::max(worst, std::abs(y[v] - z[v]) / (1.0 + std::abs(y[v])));
  EXPECT_LT(comm.max(worst), 1e-6);
}

// β that jumps by 10^3 from layer to layer: symmetric, and few iterations more.
TEST(TwoPoint, SolvesWithVariableBetaMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  const Field beta =
      beta_field(comm, geometry.graph, [](int, const Index& cell) { return cell[1] / 4 % 2 == 0 ? 1.0 : 1000.0; });
  EllipticProblem problem = test::problem_with(test::Walls::neumann);
  problem.face_beta = std::span(&beta, 1);
  EXPECT_LE(test::iterations(comm, geometry, problem), 25);
}

// A Robin side lets out area φ / (h / (2 β) + 1 / rate).
TEST(TwoPoint, RobinSide) {
  const Comm comm = Comm::self();
  const auto phi = make_level_set(Sphere{{-50.0, 0.0, 0.0}, 1.0});
  const BuiltLevel built = test::single_level(comm, *phi, {{8, 8, 8}, {false, true, true}}, 8);
  EllipticProblem problem;
  problem.beta = 2.0;
  problem.sides[0] = [](const Vec3& x) { return robin(x[1] < 4.0 ? 0.5 : 0.0, 0.0); };
  FineLevel level(comm, make_two_point_level(comm, built.geometry, problem), 0);
  const std::vector<double> x(level.end_unknown(), 1.0);
  std::vector<double> y(x.size());
  level.product(x, y);
  for (std::size_t v = 0; v < x.size(); ++v) {  // one box: x fastest, then y
    const bool open = v % 8 == 0 && v / 8 % 8 < 4;
    EXPECT_NEAR(y[v], open ? 1.0 / (1.0 / 4.0 + 1.0 / 0.5) : 0.0, 1e-6) << v;
  }
}

// The assembled matrix and the matrix-free operator are one: what PETSc solves with it is solved here too.
TEST(TwoPoint, IsItsAssembledMatrixMpi) {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  const LevelGeometry geometry = test::packing_level(comm, 32, 8);
  const TwoPointLevel level = make_two_point_level(comm, geometry, test::problem_with(test::Walls::neumann));
  const std::vector<double> b = test::random_values(std::span(&level, 1));
  std::vector<double> x(b.size()), ax(b.size());
  EXPECT_TRUE(test::solve_two_point_with_amg(comm, level, "gamg", b, x, 1e-10).converged);
  FineLevel(comm, level, 0).product(x, ax);
  for (std::size_t v = 0; v < b.size(); ++v) ax[v] -= b[v];
  EXPECT_LT(test::dot(comm, ax, ax), 1e-12 * test::dot(comm, b, b));  // diagonals are single precision: 1e-7 of x
}

// Without walls, between two Dirichlet sides, A φ = 0 for the linear profile that has the sides' value 0 at one end
// only in the inner cells: rows of the discrete Laplacian, and 2 β φ more in the cells at the ends.
TEST(TwoPoint, LinearProfileInAnEmptyDomain) {
  const Comm comm = Comm::self();
  const auto phi = make_level_set(Sphere{{-50.0, 0.0, 0.0}, 1.0});
  const BuiltLevel built = test::single_level(comm, *phi, {{16, 8, 8}, {false, true, true}}, 8);
  FineLevel level(comm, make_two_point_level(comm, built.geometry, test::problem_with(test::Walls::neumann)), 0);
  std::vector<double> x(level.end_unknown()), y(x.size());
  const auto for_all = [&](auto&& f) {
    const LevelGraph& graph = built.geometry.graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      for_each_vof(
          g, [&](int vof, int cell) { f(static_cast<std::size_t>(graph.vof_begin(b) + vof), g.cells.cell(cell)[0]); });
    }
  };
  for_all([&](std::size_t v, int i) { x[v] = i + 0.5; });
  level.product(x, y);
  for_all(
      [&](std::size_t v, int i) { EXPECT_NEAR(y[v], i == 15 ? 32.0 : 0.0, 1e-12) << i; });  // 15.5 - 14.5 + 2 * 15.5
}

}  // namespace
}  // namespace karst::two_point_test
