// SPDX-License-Identifier: BSD-3-Clause
// One level of the geometry: cut, link, select pores, merge, number. Inside eb/; build_geometry() calls it for each
// level.
#pragma once

#include <functional>
#include <vector>

#include "eb/cut/cut_box.hpp"
#include "eb/link/connected_pores.hpp"
#include "eb/link/home_cells.hpp"
#include "eb/link/kept_boxes.hpp"
#include "eb/link/level_geometry.hpp"
#include "grid/layout_builder.hpp"

namespace karst {

/// Counts of one level over all ranks; lengths in units of the level's h.
struct LevelReport {
  Index cells;                              ///< of the domain at this level
  std::int64_t boxes = 0, boxes_asked = 0;  ///< existing; of the level's region, those without fluid included
  double imbalance = 1.0;
  CutCounts cut;
  std::int64_t joined = 0, orphans = 0;  ///< pieces merged with a home cell; pieces without one
  double orphan_volume = 0.0;
  std::int64_t closed_faces = 0;  ///< open towards only one of their cells, closed
  std::int64_t pores = 0, pores_removed = 0;
  double volume = 0.0, removed_volume = 0.0;  ///< Σ κ of all pores and of those removed
  double closed_volume = 0.0;                 ///< Σ κ of pores that are kept but do not percolate (level 0)
  std::int64_t vofs = 0, irregular = 0, extra_faces = 0, multivalued_vofs = 0;
  std::int64_t vofs_composite = 0;  ///< VoFs not covered by a finer level: the unknowns
  std::int64_t irregular_composite = 0;
  std::int64_t slots = 0;  ///< field values stored, halo included
  std::int64_t bytes_moments = 0, bytes_connectivity = 0;
};

/// A finished level with its counts (all ranks).
struct BuiltLevel {
  LevelGeometry geometry;
  LevelReport report;
  std::array<bool, 3> percolates{}, joined{};  ///< of Pores
  Components pores;                            ///< of level 0, if pieces are kept
};

/// φ around the cells of a box, with one cell more on each side.
std::unique_ptr<LocalLevelSet> local_level_set(const LevelSet& level_set, const Box& cells, int level);

/// Cuts the own boxes of a layout, threaded. Not collective.
std::vector<BoxPieces> cut_own_boxes(const Layout& layout, int rank, const LevelSet& level_set, int level,
                                     const RefinedOf& refined);

/// For each fine box, bytes that say which coarse cells under it contain fluid that is kept; fetched from the owners of
/// the coarse boxes.
/// @param coarse  the finished next coarser level. The result is the argument of find_pores_of_refined_level().
/// Collective.
std::vector<std::vector<std::uint8_t>> fluid_of_parents(const Comm& comm, const Layout& fine, const LevelGraph& coarse);

/// Weight of a box for the partition (0: no fluid, the box does not exist): fluid cells, and cut cells several times.
Classify weight_of_box(const LevelSet& level_set, int level);

/// What a level may be made of beside the level set.
struct LevelSources {
  std::vector<std::vector<std::uint8_t>> parents{};  ///< result of fluid_of_parents(), for levels above 0
  KeptBoxes* boxes = nullptr;                        ///< that serve again, and get those of this level; none: nullptr
  const LevelGeometry* before = nullptr;             ///< made of these boxes; nullptr: not known
};

/// Steps 2 to 5 of eb/geometry.hpp on one layout. The result does not depend on what is kept. Collective.
BuiltLevel build_level(const Comm& comm, const Layout& layout, const LevelSet& level_set, int level,
                       const RefinedOf& refined, KeepPores keep, const VolumeOptions& volumes,
                       const LevelSources& sources = {});

}  // namespace karst
