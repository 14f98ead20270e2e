// SPDX-License-Identifier: BSD-3-Clause
// Nested levels of ratio 2. The refined region is a set of lattice boxes: one octant of a box of
// level l is one box of level l + 1. No clustering algorithm is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/grid_options.hpp"
#include "grid/layout_builder.hpp"

namespace karst {

struct GridLevel {
  Layout layout;
  std::int64_t candidates = 0;  ///< boxes of the level's region, without fluid or with
  double imbalance = 1.0;
  /// One byte per box of the layout: bit o says that octant o (x + 2 y + 4 z) belongs to the next finer level's region,
  /// also where the finer box was pruned. Empty on the finest level.
  std::vector<std::uint8_t> refined;
};

struct GridHierarchy {
  std::vector<GridLevel> levels;
  std::optional<FlaggedBoxes> flagged{};  ///< GridOptions::flagged, by which it was made
  int n_levels() const { return static_cast<int>(levels.size()); }
  /// Whether the next finer level covers this position of its lattice (wrapped if periodic). O(log n).
  bool is_refined(int level, const Index& finer_position) const;
  bool cell_is_refined(int level, const Index& cell) const;  ///< cell of `level`
};

/// The refined region of all levels, with boxes that were pruned. Not collective.
FlaggedBoxes refined_boxes(const GridHierarchy& grid);

/// Cost of a box of a level, 0 without fluid; see Classify.
using ClassifyOnLevel = std::function<double(int level, const Box& cells)>;
/// Whether these cells of a level (one octant of a box, clipped at the domain boundary) are to be covered by the next
/// finer level. Called from several threads.
using Refine = std::function<bool(int level, const Box& octant)>;
/// Whether these cells of a level contain any wall. They may extend beyond the domain where it is periodic. Called from
/// several threads.
using HoldsWall = std::function<bool(int level, const Box& cells)>;

/// Whether a throat of the rule, extended by its buffer, meets these cells of a level. Called from several threads.
using HoldsThroat = std::function<bool(const Refinement& rule, int level, const Box& octant)>;

/// See Prepare; of a level. Called before each time that boxes of a level are classified or asked for their refinement.
using PrepareOnLevel = std::function<void(int level, std::span<const Box> cells)>;

/// Layouts of all levels. Properly nested: all 26 neighbours of a box of level l + 1 are in the region of level l (or
/// outside the domain); regions are extended where necessary. The boxes do not depend on the number of ranks. Levels
/// without a refined region are left out, except level 0. Collective.
/// @param costs  by which boxes are distributed; none: by the weights of classify
GridHierarchy build_hierarchy(const Comm& comm, const Domain& domain, int box_size, int n_levels, const Refine& refine,
                              const ClassifyOnLevel& classify, const BoxCosts& costs = {},
                              const PrepareOnLevel& prepare = {});

/// The domain in cells of a level.
Domain domain_on_level(Domain domain, int level);
/// Cells of a level covered by a region of the deck; cells that it only touches are left out, and it may extend beyond
/// the domain.
Box region_cells(const GridOptions& grid, const Refinement& r, int level);
/// Whether the deck requests this octant of a box on the next level: its cells, extended by the buffer, meet the wall,
/// a region or a throat. Neighbours that proper nesting needs are not included. Not collective.
bool is_refined(const GridOptions& grid, int level, const Box& octant, const HoldsWall& holds_wall,
                const HoldsThroat& holds_throat);

/// Keys of boxes of the next level over cells of a level, wrapped where the domain is periodic. Not collective.
std::vector<std::uint64_t> boxes_over(const Domain& finer_domain, int box_size, Box cells);

/// Boxes of a level that hold one of these boxes of the next level or one of its 26 neighbours: what proper nesting
/// needs. Increasing keys. Not collective.
std::vector<std::uint64_t> boxes_below(const Domain& finer_domain, int box_size, std::span<const std::uint64_t> finer);

/// Refinement according to the deck, where an octant is refined if its cells, extended by the buffer, meet the wall, a
/// region or a throat, and where boxes are flagged. Collective.
/// @param holds_throat  may be empty where no rule asks for throats
GridHierarchy build_hierarchy(const Comm& comm, const GridOptions& grid, const HoldsWall& holds_wall,
                              const ClassifyOnLevel& classify, const BoxCosts& costs = {},
                              const PrepareOnLevel& prepare = {}, const HoldsThroat& holds_throat = {});

}  // namespace karst
