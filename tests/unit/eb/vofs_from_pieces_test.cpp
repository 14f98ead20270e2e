// SPDX-License-Identifier: BSD-3-Clause
#include "eb/vofs_from_pieces.hpp"

#include <gtest/gtest.h>

#include "support/level_cases.hpp"

namespace karst {
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
  box.faces.push_back({side_of(0, false), 0, 1.0, {0, 0}});
  return box;
}

// A face that only one of its cells knows of becomes wall and is counted; the VoF stays closed, its volume stays.
TEST(VofsFromPieces, FaceOpenOnOneSideBecomesWall) {
  const Comm self = Comm::self();
  const Layout layout({Index::all(8), {}}, 8, {0}, {0, 1});
  const PieceBoxes boxes(self, layout, 0, {half_a_cell()}, [](std::int64_t) { return RefinedOctants{}; });
  const LevelGeometry level =
      vofs_from_pieces(boxes, find_homes(boxes, ControlVolumes::home_cells), find_pores(boxes, KeepPores::all));
  EXPECT_EQ(level.closed_faces, 1);
  ASSERT_EQ(level.graph.counts().vofs, 1);
  const VofMoments& m = level.box(0).moments[0];
  EXPECT_EQ(m.kappa, 0.6);
  EXPECT_EQ(m.wall, Vec3{});  // the two ends of the half cell
  EXPECT_EQ(m.wall_area, 2.0);
  EXPECT_EQ(m.wall_centroid, (Vec3{-0.2, 0, 0}));
  EXPECT_EQ(test::free_stream_error(level), 0.0);
}

}  // namespace
}  // namespace karst
