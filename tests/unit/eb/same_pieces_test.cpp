// SPDX-License-Identifier: BSD-3-Clause
// Parts of a box that are the same in two geometries.
#include "eb/link/same_pieces.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace karst::same_pieces_test {
namespace {

/// 8^3 cut cells with a piece each, which is its own home but for every third, in pores that stay.
struct Linked {
  PieceBox box;
  std::vector<PieceHomes> homes;
  std::vector<std::uint8_t> kept;

  Linked() {
    box.cut.cells = {{}, Index::all(8)};
    box.cut.kind.assign(512, CellKind::cut);
    for (int c = 0; c < 512; ++c) {
      Piece& piece = box.cut.pieces.emplace_back();
      piece.cell = static_cast<std::uint16_t>(c);
      piece.holds_center = c % 3 > 0;
      piece.kappa = 0.5;
    }
    number_pieces(box);
    homes.resize(512);
    for (int c = 0; c < 512; c += 3) homes[c].sides = 1U;
    kept.assign(512, 1);
  }
};

int piece_in(const Index& cell) { return cell[0] + 8 * cell[1] + 64 * cell[2]; }

/// The parts that are the same after a change are those that expected(step) names.
void expect_same(const std::function<void(Linked&)>& change, const std::function<bool(const Index& step)>& expected) {
  const Linked a;
  Linked b;
  change(b);
  const SameParts same = same_parts({a.box, a.homes, a.kept}, {b.box, b.homes, b.kept});
  for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
    EXPECT_EQ(same.has(step), expected(step)) << step[0] << " " << step[1] << " " << step[2];
  });
}

// What is beside a box reads three cells of it: x = 2 is one of them at the low side, y = 4 of 8 at neither, z = 5 at
// the high one.
TEST(SamePieces, ACellCountsForWhatIsWithinThreeCellsOfIt) {
  const int at = piece_in({2, 4, 5});  // 354, a third one: merged with another
  const auto far = [](const Index& step) { return step[0] == 1 || step[1] != 0 || step[2] == -1; };
  expect_same([](Linked&) {}, [](const Index&) { return true; });
  expect_same([&](Linked& b) { b.box.cut.pieces[at].kappa = 0.25; }, far);
  expect_same([&](Linked& b) { b.homes[at].sides = 2U; }, far);
  expect_same([&](Linked& b) { b.box.cut.pieces[at].wall_area = 0.5; }, far);
  expect_same([&](Linked& b) { b.box.cut.pieces[at].holds_center = true; }, far);
  expect_same([&](Linked& b) { b.kept[at] = 0; }, far);
}

// Without the VoF in (4, 4, 4) all that come after it have other numbers; those of the three lowest planes come before.
TEST(SamePieces, NumbersOfVofsCount) {
  const int at = piece_in({4, 4, 4});
  expect_same([&](Linked& b) { b.kept[at] = 0; }, [](const Index& step) { return step[2] == -1; });
}

}  // namespace
}  // namespace karst::same_pieces_test
