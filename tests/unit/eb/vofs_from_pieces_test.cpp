// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/vofs_from_pieces.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/level_cases.hpp"

namespace karst::vofs_from_pieces_test {
namespace {

/// A box of 8^3 solid cells but for the left half of cell (3, 3, 3), open towards (2, 3, 3), which is solid all the
/// same.
BoxPieces half_a_cell() {
  BoxPieces box;
  box.cells = {{}, Index::all(8)};
  box.kind.assign(512, CellKind::covered);
  const auto cell = static_cast<std::uint16_t>(box.cells.offset({3, 3, 3}));
  box.kind[cell] = CellKind::cut;
  box.pieces.push_back({cell, true, 0.6, {-0.2, 0, 0}, {-1, 0, 0}, 1.0, {0.1, 0, 0}, 0, 1});
  box.faces.push_back({low_side(0), 0, 1.0, {0, 0}});
  return box;
}

// A face that only one of its cells knows of becomes wall and is counted; the VoF stays closed, its volume stays.
TEST(VofsFromPieces, FaceOpenOnOneSideBecomesWall) {
  const Comm self = Comm::self();
  const Layout layout({Index::all(8), {}}, 8, {0}, {0, 1});
  const PieceBoxes boxes(self, layout, 0, {half_a_cell()}, [](std::int64_t) { return RefinedOctants{}; });
  const Homes homes = find_homes(boxes, ControlVolumes::home_cells);
  const LevelGeometry level = vofs_from_pieces(boxes, homes, find_pores(boxes, homes, KeepPores::all));
  EXPECT_EQ(level.closed_faces, 1);
  ASSERT_EQ(level.graph.counts().vofs, 1);
  const VofMoments& m = level.box(0).moments[0];
  EXPECT_EQ(m.kappa, 0.6);
  EXPECT_EQ(m.wall, Vec3{});  // the two ends of the half cell
  EXPECT_EQ(m.wall_area, 2.0);
  EXPECT_EQ(m.wall_centroid, (Vec3{-0.2, 0, 0}));
  EXPECT_EQ(test::free_stream_error(level), 0.0);
}

// A square prism with its walls on cell centres: the pieces at its four edges have two equal neighbours, which get half
// of each. Volume and closure stay, and exchange of x and y changes nothing.
TEST(VofsFromPieces, EqualNeighboursShareAPiece) {
  const auto phi = make_level_set(Cuboid{{{8, 8, 8}, {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}}, {3.5, 3.5, 99}});
  const BuiltLevel level = test::single_level(Comm::self(), *phi, {{16, 16, 1}, {}});
  EXPECT_LT(test::free_stream_error(level.geometry), 1e-13);
  std::map<std::pair<int, int>, double> kappa;
  double volume = 0.0;
  for (int b = 0; b < level.geometry.graph.n_local(); ++b) {
    const BoxGraph graph = level.geometry.graph.box(b);
    volume += graph.n_own - graph.n_irregular;
    for (int r = 0; r < graph.n_irregular; ++r) {
      const Index c = graph.cells.cell(graph.row_cell[r]);
      volume += kappa[{c[0], c[1]}] = level.geometry.box(b).moments[r].kappa;
    }
  }
  const double piece = 0.75 + (volume - (256.0 - 49.0)) / 4.0;  // cutting rounds the edge in it: between 3/4 and 7/8
  EXPECT_GT(piece, 0.75);
  EXPECT_LT(piece, 0.875);
  EXPECT_NEAR((kappa[{3, 4}]), 1.0 + piece / 2.0, 1e-9);
  for (const auto& [cell, k] : kappa) EXPECT_NEAR(k, (kappa[{cell.second, cell.first}]), 1e-12);
}

}  // namespace
}  // namespace karst::vofs_from_pieces_test
