// SPDX-License-Identifier: BSD-3-Clause
// The geometry of a run: levels of cut cells, generated from a level set in these steps (collective, parallel over
// boxes):
//   1  lattice boxes that contain fluid -> layout, weighted by their work
//   2  cut every box into pieces of fluid
//   3  link pieces across faces, also between boxes and ranks
//   4  connected pores: remove those without flow
//   5  merge small pieces with home cells, number the VoFs, build graph and moments
// Refined levels repeat these steps on the boxes that the deck requests. For walls that move the solid is connected,
// too (link/solids.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eb/link/level_builder.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// Wall of one mineral, over all levels.
struct MineralWall {
  std::string name;
  double area = 0.0;               ///< in units of h0²
  std::optional<double> volume{};  ///< of its solid, in units of h0³; if pieces are kept
};

struct GeometryReport {
  std::vector<LevelReport> levels;
  double porosity = 0.0;              ///< fluid volume / domain volume, with the pores removed on level 0
  double connected_porosity = 0.0;    ///< of the pores that percolate
  double wall_area = 0.0;             ///< of the pores that are kept, in units of h0²
  double specific_surface = 0.0;      ///< wall area / domain volume, in 1/h0
  std::vector<MineralWall> minerals;  ///< by number; Σ area = wall_area, to round-off
  std::array<bool, 3> percolates{};
  std::array<bool, 3> joined{};  ///< percolates, or would if cells resolved its narrowest places
  /// Pores lead through that these cells do not resolve: neither is the permeability 0, nor is it known.
  bool unresolved(int axis) const { return joined[axis] && !percolates[axis]; }
};

/// Another number at each call: the same on all ranks where all of them call it, which they do for what is collective.
std::int64_t next_geometry_id();

struct Geometry {
  std::int64_t id = next_geometry_id();  ///< by which what belongs to it is known; moves with it
  GridHierarchy grid;
  std::vector<LevelGeometry> levels;
  GeometryReport report;
  std::optional<Topology> topology{};  ///< pores and solids of level 0, if pieces are kept
};

/// Of level 0.
inline const Domain& domain_of(const Geometry& geometry) { return geometry.grid.levels[0].layout.domain(); }

/// Boxes of all levels, and their owners. Throws Error if a level or all fluid is missing. Collective.
/// @param kept  with the weights of boxes; nullptr: none are known
GridHierarchy build_grid(const Comm& comm, const GridOptions& grid, const LevelSet& level_set,
                         const BoxCosts& costs = {}, KeptBoxes* kept = nullptr);

/// What is there of another geometry of the same level set, pores and volumes (decision 064).
struct GeometryBefore {
  KeptBoxes* boxes = nullptr;          ///< of the last geometry, then those of this one; nullptr: nothing is kept
  const Geometry* geometry = nullptr;  ///< the last one; nullptr: it is gone, or there was none
};

/// Builds all levels. Throws Error if there is no fluid. Collective.
/// @param costs   by which boxes are distributed to ranks; none: by weight_of_box()
/// @param before  serves where boxes are the same; the geometry is that of none, bit by bit. Not with
///                VolumeOptions::keep_pieces
Geometry build_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, KeepPores keep,
                        const VolumeOptions& volumes = {}, const BoxCosts& costs = {},
                        const GeometryBefore& before = {});

}  // namespace karst
