// SPDX-License-Identifier: BSD-3-Clause
// The geometry of a run: levels of cut cells, made from a level set in these steps (collective, parallel over boxes):
//   1  lattice boxes that hold fluid -> layout, weighted by the work they mean
//   2  cut every box into pieces of fluid
//   3  link pieces across faces, also between boxes and ranks
//   4  connected pores: remove what flow cannot reach
//   5  join small pieces to home cells, number the VoFs, build graph and moments
// Refined levels repeat them on the boxes that the deck asks for.
#pragma once

#include <memory>
#include <vector>

#include "eb/connected_pores.hpp"
#include "eb/home_cells.hpp"
#include "eb/level_geometry.hpp"
#include "eb/level_set.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// Counts of one level over all ranks; lengths in units of the level's h.
struct LevelReport {
  Index cells;                              ///< of the domain at this level
  std::int64_t boxes = 0, boxes_asked = 0;  ///< existing; candidates, the others hold no fluid
  double imbalance = 1.0;
  CutCounts cut;
  std::int64_t joined = 0, orphans = 0;  ///< pieces that joined a home cell; pieces without one
  double orphan_volume = 0.0;
  std::int64_t pores = 0, pores_removed = 0;
  double removed_volume = 0.0;
  std::int64_t vofs = 0, irregular = 0, extra_faces = 0, multivalued_vofs = 0;
  std::int64_t vofs_composite = 0;  ///< not covered by a finer level: the unknowns
  std::int64_t irregular_composite = 0;
  std::int64_t slots = 0;  ///< field values stored, halo included
  std::int64_t bytes_moments = 0, bytes_connectivity = 0;
};

struct GeometryReport {
  std::vector<LevelReport> levels;
  double porosity = 0.0;            ///< fluid volume / domain volume, all pores
  double connected_porosity = 0.0;  ///< of the pores that stay
  double wall_area = 0.0;           ///< of the pores that stay, in units of h0²
  double specific_surface = 0.0;    ///< wall area / domain volume, in 1/h0
  std::array<bool, 3> percolates{};
};

struct Geometry {
  GridHierarchy grid;
  std::vector<LevelGeometry> levels;
  GeometryReport report;
};

/// Builds all levels. Error when there is no fluid at all. Collective.
Geometry build_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, KeepPores keep,
                        ControlVolumes control_volumes = ControlVolumes::home_cells);

}  // namespace karst
