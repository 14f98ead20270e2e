// SPDX-License-Identifier: BSD-3-Clause
// Plotfile: one HDF5 file that ParaView and VTK >= 9.2 open as VTKHDF OverlappingAMR and yt as a Chombo file.
//
//   /                        title, karst_version, time, iteration, domain_cells
//   /VTKHDF/LevelL           Spacing [m]
//   /VTKHDF/LevelL/AMRBox    first and last cell of each box: x, x, y, y, z, z
//   /VTKHDF/LevelL/CellData/NAME  box after box, x fastest [float32]; (cells) or, of a vector, (cells, 3); attribute
//                            `units`
//   /VTKHDF/LevelL/CellData/vtkGhostType  32: no fluid in the cell, 8: a finer level covers it [uint8]
//
// Where the file holds a part of the domain, or coarser cells than the grid, additional attributes at the root:
//
//   region                   first and last cell of level 0 that it holds: x, x, y, y, z, z
//   coarsening               cells of the grid along an edge of a cell of the file
//
// With PlotDescription::chombo also the layout for yt, in which the values are stored a second time (decision 019):
//   /                        filetype, num_levels, num_components, component_0 .., max_level, time, iteration
//   /Chombo_global           SpaceDim, testReal
//   /level_L                 dx [cm: yt takes lengths of this format for that], dt, time, prob_domain, ref_ratio
//   /level_L/boxes           first and last cell of each box          /level_L/Processors   its rank
//   /level_L/data:datatype=0 box after box, in a box component after component, x fastest [float32]
//   /level_L/data:offsets=0  where each box starts there, and the end
//
// In parts (PlotDescription::parts, decision 043) the values are in files next to this one, NAME.part1, NAME.part2 ...,
// each with the boxes of a group of ranks in datasets of the same names. The datasets of this file are virtual HDF5
// datasets, which show those of all parts; additional attributes at the root:
//
//   parts, part_names        their number; their names without it ("NAME.part")
//   parts_id                 a random text, the same in all parts: they belong together
//
// Only boxes that exist are written. They are sorted by size, then in Morton order (see plot_order.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Flags of cells that readers hide, as defined by VTK (vtkDataSetAttributes: HIDDENCELL, REFINEDCELL).
inline constexpr std::uint8_t cell_is_solid = 32, cell_is_covered = 8;

/// Attribute of a file that holds a part of the domain.
inline constexpr const char* plot_region = "region";

/// A scalar, or a vector of three components.
struct PlotArray {
  std::string name, unit;
  bool is_vector = false;
  int n_components() const { return is_vector ? 3 : 1; }
};
/// Names of the components of arrays, one after the other: those of a vector end in _x, _y, _z.
std::vector<std::string> component_names(std::span<const PlotArray> arrays);

struct PlotDescription {
  std::string title, version;  ///< kept in the file: the deck's title, the version of Karst
  double cell_width = 1.0;     ///< of level 0 [m]; each level has half of the one before
  double time = 0.0;           ///< [s]
  int step = 0;
  std::optional<Box> region{};        ///< cells of level 0 whose boxes the levels have; none: the whole domain
  int coarsening = 1;                 ///< cells of the grid along an edge of a cell of the file
  std::vector<const Layout*> levels;  ///< level 0 first, each with at least one box and one rank interval per rank
  std::vector<PlotArray> arrays;      ///< different names without '/'
  /// Values of one component (position in component_names()) in an own box (counted from 0): one per cell, x fastest;
  /// 0 where there is no value. Called once per level, box and component, from several threads at once.
  std::function<void(int level, std::int64_t box, int component, std::span<float> cells)> fill;
  /// Flags of the cells of an own box, likewise.
  std::function<void(int level, std::int64_t box, std::span<std::uint8_t> cells)> hide;
  bool chombo = false;  ///< the values once more in the layout that yt reads
  int parts = 1;        ///< files for the values, at most one per rank; 1: they stand in the plotfile itself
  int compression = 1;  ///< deflate level 1 .. 9 (after a byte shuffle); 0 writes plain values
  std::int64_t buffer_bytes = std::int64_t{64} << 20;  ///< of values held by a rank at a time, two thirds more to sort
};

struct PlotSize {
  std::int64_t file_bytes = 0;   ///< of the finished file, and of its parts
  std::int64_t box_bytes = 0;    ///< of the values before compression, counted once
  std::int64_t dense_bytes = 0;  ///< of the values on a uniform grid of the finest cell width over domain or region
  int parts = 1;                 ///< that were written
};

/// Writes a plotfile under a temporary name and renames it, so `path` is the old file or the complete new one. Parts
/// are renamed before it: those of an older plotfile of this name are removed once the first one is renamed. Throws the
/// same Error on all ranks if anything fails (a full disk, fill() on any rank); no new file remains. Collective.
PlotSize write_plotfile(const Comm& comm, const std::string& path, const PlotDescription& plot);

}  // namespace karst
