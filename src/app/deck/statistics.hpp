// SPDX-License-Identifier: BSD-3-Clause
// What a geometry is and what it cost, over all ranks: as a table for people and as summary.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/geometry.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// Bytes of one level, over all ranks.
struct LevelBytes {
  std::int64_t irregular = 0;  ///< moments, table rows and extra faces of irregular VoFs
  std::int64_t regular = 0;    ///< runs and table rows of the other VoFs
  std::int64_t exchange = 0;   ///< halo lists and exchange plans, box tables
};

struct GeometryStatistics {
  std::string title;
  double cell_width = 0.0;  ///< of level 0 [m]
  GeometryReport report;
  std::vector<LevelBytes> bytes;  ///< per level
  double specific_surface = 0.0;  ///< wall area / domain volume [1/m]
  int ranks = 1;
  std::int64_t threads = 1;  ///< of a rank, the largest
  std::int64_t workers = 1;  ///< threads of all ranks

  double wall_area() const;  ///< [m²]
  /// Area of the wall of a mineral [m²].
  double wall_area(const MineralWall& mineral) const { return mineral.area * cell_width * cell_width; }
  /// Sum of a count over the levels.
  std::int64_t sum(std::int64_t LevelReport::*count) const;
  std::int64_t sum(std::int64_t CutCounts::*count) const;
  std::int64_t sum(std::int64_t LevelBytes::*count) const;
};

/// Wall-clock seconds of the parts of a run (of the slowest rank).
struct RunSeconds {
  double geometry = 0.0, output = 0.0, total = 0.0;
  double setup = 0.0, solve = 0.0;  ///< of the solvers of `karst run`
};

/// Collective; the same on every rank.
GeometryStatistics collect_statistics(const Comm& comm, const Geometry& geometry, double cell_width,
                                      const std::string& title);

/// The sample: its size, porosity, surface and along which axes it percolates.
std::string pores_table(const GeometryStatistics& s);
/// How it was cut: boxes, cells, repairs.
std::string grid_table(const GeometryStatistics& s);
/// Both.
std::string geometry_table(const GeometryStatistics& s);
/// What it cost: time per cut cell, bytes per cell, file size (0 bytes: no file).
std::string cost_table(const GeometryStatistics& s, const RunSeconds& seconds, const PlotSize& file);
/// Sentences about what the user should know of (walls lost, pores that do not percolate ...); may be empty.
std::vector<std::string> warnings(const GeometryStatistics& s);

/// 1 234 567
std::string grouped(std::int64_t n);

}  // namespace karst
