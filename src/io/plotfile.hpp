// SPDX-License-Identifier: BSD-3-Clause
// Plotfile: one HDF5 file that yt and VisIt open as a Chombo file and VTK >= 9.2 and ParaView as VTKHDF OverlappingAMR.
//
//   /                        filetype, num_levels, num_components, component_0 .., max_level, time, iteration,
//                            title, karst_version
//   /Chombo_global           SpaceDim, testReal
//   /level_L                 dx, dt, time, prob_domain, ref_ratio
//   /level_L/boxes           first and last cell of each box          /level_L/Processors   its rank
//   /level_L/data:datatype=0 box after box, in a box component after component, x fastest [float32]
//   /level_L/data:offsets=0  where each box starts there, and the end
//   /VTKHDF/LevelL/AMRBox    the same boxes
//   /VTKHDF/LevelL/CellData  one virtual dataset per component: a view of data:datatype=0, no copy
//
// Only boxes that exist are written. They stand sorted by size, then in Morton order (see plot_order.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/comm.hpp"
#include "grid/layout.hpp"

namespace karst {

struct PlotDescription {
  std::string title, version;  ///< kept in the file: the deck's title, the version of Karst
  double cell_width = 1.0;     ///< of level 0 [m]; each level has half of the one before
  double time = 0.0;           ///< [s]
  int step = 0;
  std::vector<const Layout*> levels;    ///< level 0 first, each with at least one box and one rank interval per rank
  std::vector<std::string> components;  ///< different names without '/'
  /// Values of one component in an own box (counted from 0): one per cell, x fastest, any finite number or NaN in
  /// covered cells. Called once per level, box and component, from several threads at once.
  std::function<void(int level, std::int64_t box, int component, std::span<float> cells)> fill;
  int compression = 1;  ///< deflate level 1 .. 9 (after a byte shuffle); 0 writes plain values
  std::int64_t buffer_bytes = std::int64_t{64} << 20;  ///< of values held by a rank at a time
};

struct PlotSize {
  std::int64_t file_bytes = 0;   ///< of the finished file
  std::int64_t box_bytes = 0;    ///< of the values before compression
  std::int64_t dense_bytes = 0;  ///< of the values on a uniform grid of the finest cell width over the whole domain
};

/// Writes a plotfile under a temporary name and renames it, so `path` holds the old file or the whole new one.
/// Throws the same Error on all ranks when anything fails (a full disk, fill() on any rank); nothing new stays behind.
/// Collective.
PlotSize write_plotfile(const Comm& comm, const std::string& path, const PlotDescription& plot);

}  // namespace karst
