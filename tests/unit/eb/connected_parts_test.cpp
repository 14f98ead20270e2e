// SPDX-License-Identifier: BSD-3-Clause
// Connected parts beside a flood fill from piece to piece.
#include "eb/link/connected_parts.hpp"

#include <gtest/gtest.h>

#include "eb/link/components.hpp"
#include "eb/link/level_builder.hpp"
#include "eb/link/solids.hpp"
#include "eb/shapes/combine.hpp"
#include "support/geometry_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::connected_parts_test {
namespace {

struct Flooded {
  std::int64_t first;  ///< place of its first piece, as in ComponentFacts
  double volume;
};

/// Components of all boxes of one rank: each piece floods to those across its faces.
std::vector<Flooded> flood(const PieceBoxes& boxes) {
  std::vector<std::vector<std::uint8_t>> wet;
  for (int slot = 0; slot < boxes.n_own(); ++slot) wet.emplace_back(boxes.box(slot).n_ids());
  std::vector<Flooded> all;
  struct Place {
    int slot, cell, piece;  // -1: a regular cell
  };
  std::vector<Place> open;
  const auto reach = [&](int slot, int cell, int piece) {
    const PieceBox& box = boxes.box(slot);
    const int id = piece < 0 ? box.id_of_cell(cell) : box.id_of_piece(piece);
    if (wet[slot][id]++ == 0) open.push_back({slot, cell, piece});
  };
  const Box domain = boxes.layout().domain().box();
  const auto fill = [&](int slot, int cell, int piece) {
    reach(slot, cell, piece);
    if (open.empty()) return;
    Flooded& now = all.emplace_back(std::numeric_limits<std::int64_t>::max(), 0.0);
    while (!open.empty()) {
      const Place at = open.back();
      open.pop_back();
      const PieceBox& box = boxes.box(at.slot);
      const Index index = box.cut.cells.cell(at.cell);
      const int number = at.piece < 0 ? 0 : box.id_of_piece(at.piece) - box.id_of_cell(at.cell);
      now.first = std::min(now.first, (domain.offset(index) << 16) + number);
      now.volume += at.piece < 0 ? 1.0 : box.cut.pieces[at.piece].kappa;
      const auto across = [&](int side, int ordinal) {
        const Across to = boxes.across(at.slot, index, side, ordinal);
        if (to.what == Across::What::piece) reach(to.slot, to.cell, to.piece);
      };
      if (at.piece < 0) {
        for (int side = 0; side < 6; ++side) across(side, 0);
        continue;
      }
      const Piece& of = box.cut.pieces[at.piece];
      for (std::uint32_t f = of.first_face; f < of.first_face + of.n_faces; ++f)
        across(box.cut.faces[f].side, box.cut.faces[f].ordinal);
    }
  };
  for (int slot = 0; slot < boxes.n_own(); ++slot) {
    const PieceBox& box = boxes.box(slot);
    for (int c = 0; c < box.n_cells(); ++c)
      if (box.kind(c) == CellKind::regular) fill(slot, c, -1);
    for (int p = 0; p < box.n_pieces(); ++p) fill(slot, box.cut.pieces[p].cell, p);
  }
  std::ranges::sort(all, {}, &Flooded::first);
  return all;
}

// Many grains that touch, overlap or float, in the domain and across periodic sides, on any number of ranks.
TEST(ConnectedParts, AreThoseOfAFloodFillMpi) {
  const Comm comm = Comm::world(), alone = Comm::self();
  std::size_t most = 0;
  for (const bool periodic : {false, true})
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const GridOptions grid = test::unit_cells(Index::all(36), {periodic, periodic, periodic}, 8);
      const auto phi = test::packing(60, 3.4, 36.0, periodic, seed);
      const auto solid = complement_of(*phi, 0.25);
      const auto not_refined = [](std::int64_t) { return RefinedOctants(); };
      const Layout layout = build_layout(alone, grid.domain(), 8, weight_of_box(*solid, 0)).layout;
      const PieceBoxes boxes(alone, layout, 0, cut_own_boxes(layout, 0, *solid, 0, not_refined), not_refined);
      const std::vector<Flooded> flooded = flood(boxes);
      const std::vector<Component> found = find_solids(comm, grid.domain(), 8, *phi).components.all;
      ASSERT_EQ(found.size(), flooded.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].first, flooded[i].first);
        EXPECT_NEAR(found[i].volume, flooded[i].volume, 1e-9 * flooded[i].volume + 1e-12);
      }
      most = std::max(most, found.size());
    }
  EXPECT_GT(most, 8U);
}

/// Boxes of whole cells, a part of them at random.
std::vector<BoxPieces> random_cells(const Layout& layout, int rank, double part, std::uint64_t seed) {
  const auto [first, last] = layout.owned(rank);
  std::vector<BoxPieces> boxes;
  for (std::int64_t b = first; b < last; ++b) {
    BoxPieces& box = boxes.emplace_back();
    box.cells = layout.box(b);
    for_each_cell(box.cells, [&](const Index& cell) {
      test::Random random(977 * layout.domain().box().offset(cell) + seed);
      box.kind.push_back(random() < part ? CellKind::regular : CellKind::covered);
    });
  }
  return boxes;
}

// Whole cells at random, about as many as it takes to lead through the domain: clusters of all sizes and shapes, in
// boxes that the domain clips, too.
TEST(ConnectedParts, OfRandomCellsMpi) {
  const Comm comm = Comm::world(), alone = Comm::self();
  const auto not_refined = [](std::int64_t) { return RefinedOctants(); };
  for (const bool periodic : {false, true})
    for (const double part : {0.2, 0.32, 0.5}) {
      const Domain domain = test::unit_cells({30, 24, 27}, {periodic, periodic, periodic}, 8).domain();
      const auto boxes_of = [&](const Comm& of, const Layout& layout) {
        return PieceBoxes(of, layout, 0, random_cells(layout, of.rank(), part, 5), not_refined);
      };
      const auto all = [](const Box&) { return 1.0; };
      const Layout shared = build_layout(comm, domain, 8, all).layout, own = build_layout(alone, domain, 8, all).layout;
      const std::vector<Flooded> flooded = flood(boxes_of(alone, own));
      const PieceBoxes boxes = boxes_of(comm, shared);
      const LabelledParts found = label_parts(boxes);
      const Components components = components_of(boxes, found.parts, found.label,
                                                  collect_facts(boxes, found.parts, found.label, {.places = true}));
      ASSERT_EQ(components.all.size(), flooded.size());
      for (std::size_t i = 0; i < flooded.size(); ++i) {
        EXPECT_EQ(components.all[i].first, flooded[i].first);
        EXPECT_EQ(components.all[i].volume, flooded[i].volume);
      }
    }
}

}  // namespace
}  // namespace karst::connected_parts_test
