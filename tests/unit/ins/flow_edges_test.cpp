// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_edges.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "ins/operator/edge_table.hpp"
#include "support/ground_cases.hpp"
#include "support/sharp_cases.hpp"

namespace karst::flow_edges_test {
namespace {

double error_of_prism(int n, int axis, const Vec3& offset, double shrunk = 0.0) {
  const double exact = axis == 2 ? test::prism_along : test::prism_across;
  return test::flow_around_box(Comm::self(), {n, n, 1}, axis, offset, shrunk).permeability[axis] / exact - 1.0;
}

// Laplace's equation around an edge of 3π/2: w = r^(2/3) sin(2ϕ/3), with a wall along +x and one along +y.
TEST(FlowEdges, WIsTheHarmonicFunctionOfTheEdge) {
  const FlowEdge e{{1, 3}, {0.25, 0.5}, 0.0, 1.5 * std::numbers::pi};
  EXPECT_NEAR(e.value({0.25, -0.5, 0.0}), std::sin(std::numbers::pi / 3.0), 1e-14);
  EXPECT_NEAR(e.value({-0.75, 0.5, 9.0}), std::sin(2.0 * std::numbers::pi / 3.0), 1e-14);
  EXPECT_EQ(e.value({0.5, 1.0, 0.0}), 0.0);
  EXPECT_NEAR(e.value({3.0, 0.5, 0.0}), 0.0, 1e-14);
  const double h = 1e-3;
  const Vec3 at{-0.4, -0.3, 0.0};
  const double five = e.value(at + Vec3{h, 0, 0}) + e.value(at - Vec3{h, 0, 0}) + e.value(at + Vec3{0, h, 0}) +
                      e.value(at - Vec3{0, h, 0}) - 4.0 * e.value(at);
  EXPECT_NEAR(five / (h * h), 0.0, 1e-5);
}

// Turned by a quarter, the same edge.
TEST(FlowEdges, FrictionTurnsWithTheEdge) {
  const double angle = 1.5 * std::numbers::pi;
  const std::vector<FlowEdge> a{{{1, 3}, {0.3, 0.6}, 0.0, angle}}, b{{{0, 5}, {0.3, 0.6}, 0.0, angle}};
  const Vec3 of_a = edge_friction(a, {}), of_b = edge_friction(b, {});
  EXPECT_GT(of_a[2], 0.1);
  EXPECT_DOUBLE_EQ(of_a[0], of_b[0]);
  EXPECT_DOUBLE_EQ(of_a[1], of_b[2]);
  EXPECT_DOUBLE_EQ(of_a[2], of_b[1]);
  const EdgeFriction table = tabulated_edge_friction({0.3, 0.6});
  const double w = of_a[2] - table.along;
  EXPECT_NEAR(of_a[0], 2.0 * w + table.around[0], 1e-14);
  EXPECT_NEAR(of_a[1], 2.0 * w + table.around[1], 1e-14);
}

// Walls turned by 10° or more, or with another angle between them, are beyond the tables; near the edge the cell behind
// the one in front takes its part.
TEST(FlowEdges, TablesHoldForRightAnglesAlongGridLines) {
  const auto difference_around = [](const FlowEdge& e) {
    const Vec3 sigma = edge_friction(std::span(&e, 1), {});
    return sigma[0] - sigma[1];  // 0 but for the tables
  };
  const double right = 1.5 * std::numbers::pi, ten = std::numbers::pi / 18.0;
  EXPECT_GT(std::abs(difference_around({{1, 3}, {0.3, 0.6}, 0.0, right})), 0.05);
  EXPECT_NEAR(difference_around({{1, 3}, {0.3, 0.6}, ten, right}), 0.0, 1e-14);
  EXPECT_NEAR(difference_around({{1, 3}, {0.3, 0.6}, 0.0, right + ten}), 0.0, 1e-14);
  const auto behind = [&](double x, double y) { return std::abs(difference_around({{1, 3}, {x, y}, 0.0, right})); };
  EXPECT_GT(behind(1.1, 0.2), 1e-3);
  EXPECT_LT(behind(1.6, 0.2), 1e-14);
}

// Where the table was made (128² cells, 0.1 and 0.8 of a cell from the cell in front), between, and with the directions
// changed over.
TEST(EdgeTable, InterpolatesAndTurns) {
  const EdgeFriction a = tabulated_edge_friction({0.1, 0.8}), turned = tabulated_edge_friction({0.8, 0.1});
  EXPECT_NEAR(a.along, -0.066, 1e-7);
  EXPECT_NEAR(a.around[0] + a.around[1], 2.0 * 0.226, 1e-7);
  EXPECT_EQ(a.along, turned.along);
  EXPECT_EQ(a.around[0], turned.around[1]);
  EXPECT_EQ(a.around[1], turned.around[0]);
  const EdgeFriction b = tabulated_edge_friction({0.1, 0.9}), middle = tabulated_edge_friction({0.1, 0.85});
  for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(middle.around[c], 0.5 * (a.around[c] + b.around[c]), 1e-12);
  const EdgeFriction diagonal = tabulated_edge_friction({0.37, 0.37});
  EXPECT_EQ(diagonal.around[0], diagonal.around[1]);
  EXPECT_EQ(tabulated_edge_friction({0.0, 0.3}).along, tabulated_edge_friction({0.01, 0.3}).along);
}

// Along the prism, and across it in x and y; walls on cell centres (0) among the places. Without edge rows (diagonal
// offsets) the worst errors were 4.3 %. All 40 places, and finer grids: karst-verify-sharp.
TEST(FlowEdges, PrismsAnywhereOnTheGrid) {
  for (const int axis : {0, 1, 2})
    for (const int i : {0, 8, 13, 21, 26})
      EXPECT_LT(std::abs(error_of_prism(16, axis, test::place_on_grid(i))), 0.01) << axis << " " << i;
}

// Walls on cell centres, and 1e-4 of a cell to both sides of them: the same prism.
TEST(FlowEdges, WallsOnCellCentres) {
  for (const double across : {0.0, 0.5})
    for (const double shrunk : {-1e-4, 0.0, 1e-4}) {
      EXPECT_LT(std::abs(error_of_prism(16, 0, {0.0, across, 0.0}, shrunk)), 0.01) << across << " " << shrunk;
      EXPECT_LT(std::abs(error_of_prism(16, 2, {0.0, across, 0.0}, shrunk)), 0.005) << across << " " << shrunk;
    }
}

TEST(FlowEdges, CubesAnywhereOnTheGridMpi) {
  const Comm comm = Comm::world();
  for (const int i : {0, 3, 11, 26}) {
    const double k = test::flow_around_box(comm, Index::all(16), 0, test::place_on_grid(i)).permeability[0];
    EXPECT_NEAR(k / test::cube, 1.0, 0.01) << i;
  }
}

// Cubes whose eight vertices all lie in front of a cell centre, up to half a cell: nothing held the fluid there, and
// the permeability was 2.7 % too high. Reference: this solver on 64³, where no vertex does; its error is below 1e-3.
TEST(FlowEdges, VerticesJustBehindCellCentres) {
  for (const auto& [shrunk, exact] : {std::pair{1e-4, 0.05042}, {0.03, 0.05169}, {0.1, 0.05472}, {0.25, 0.06189}}) {
    const double k = test::flow_around_box(Comm::self(), Index::all(16), 0, {}, shrunk).permeability[0];
    EXPECT_NEAR(k / exact, 1.0, 0.01) << shrunk;
  }
}

// Cells above the corner of a face see two of its edges, each of which balances the friction of the face: both together
// made the diagonal of their rows 0 where the face lies 0.0135 cells beside the centres, and errors of 3 to 5 %.
TEST(FlowEdges, CornersOfFacesBesideCellCentres) {
  for (const double offset : {0.005, 0.012, 0.0135, 0.015, 0.03}) {
    const double k = test::flow_around_box(Comm::self(), Index::all(16), 0, Vec3::all(offset)).permeability[0];
    EXPECT_NEAR(k / test::cube, 1.0, 0.01) << offset;
  }
}

// Edges that lie in boxes of other ranks, or across the ends, are seen alike.
TEST(FlowEdges, DoNotDependOnRanksMpi) {
  for (const Vec3& offset : {Vec3{4.1, 3.9, 4.3}, Vec3{0.0, 0.0, 0.0}}) {
    const double all = test::flow_around_box(Comm::world(), Index::all(16), 2, offset, 0.0, 1e-11).permeability[2];
    const double alone = test::flow_around_box(Comm::self(), Index::all(16), 2, offset, 0.0, 1e-11).permeability[2];
    EXPECT_NEAR(all / alone, 1.0, 1e-9);
  }
}

// A cube in the middle of a cubic period: k_x = k_y = k_z, with walls on cell centres (16) and between them (18).
TEST(FlowEdges, SymmetricCubesHaveOnePermeability) {
  for (const int n : {16, 18}) {
    Vec3 k;
    for (int d = 0; d < 3; ++d)
      k[d] = test::flow_around_box(Comm::self(), Index::all(n), d, {}, 0.0, 1e-12).permeability[d];
    EXPECT_NEAR(k[1] / k[0], 1.0, 1e-9) << n;
    EXPECT_NEAR(k[2] / k[0], 1.0, 1e-9) << n;
  }
}

// The same of spheres, five cells in radius, around a lattice node and around a cell centre.
TEST(FlowEdges, SymmetricSpheresHaveOnePermeability) {
  for (const double middle : {8.0, 8.5}) {
    const auto sphere = make_sphere_list({{Vec3::all(middle), 5.0}}, {Vec3::all(16.0), {true, true, true}});
    const Geometry geometry = build_geometry(Comm::self(), test::flow_grid(Index::all(16)), *sphere, KeepPores::all);
    StokesOptions options;
    options.krylov.tolerance = 1e-12;
    StokesSolver solver(test::composite_on(Comm::self(), geometry), {}, options);
    Vec3 k;
    for (int d = 0; d < 3; ++d) {
      StokesDrive drive;
      drive.force[d] = 1.0;
      k[d] = solver.solve(drive).velocity[d];
    }
    EXPECT_NEAR(k[1] / k[0], 1.0, 1e-9) << middle;
    EXPECT_NEAR(k[2] / k[0], 1.0, 1e-9) << middle;
  }
}

// A box beside the middle and its mirror image in x, with a wall on cell centres: the same permeability.
TEST(FlowEdges, MirroredBoxesHaveOnePermeability) {
  for (const Vec3& offset : {Vec3{0.25, 0.25, 0.25}, Vec3{0.5, 0.1, 0.0}}) {
    const auto k = [&](double sign) {
      const Vec3 at{sign * offset[0], offset[1], offset[2]};
      return test::flow_around_box(Comm::self(), Index::all(16), 1, at, 0.0, 1e-12).permeability[1];
    };
    EXPECT_NEAR(k(-1.0) / k(1.0), 1.0, 1e-9) << offset[0];
  }
}

}  // namespace
}  // namespace karst::flow_edges_test
