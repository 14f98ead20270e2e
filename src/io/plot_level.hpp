// SPDX-License-Identifier: BSD-3-Clause
// One level of a plotfile; the layout is described in plotfile.hpp.
#pragma once

#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"
#include "io/plot_order.hpp"
#include "io/plotfile.hpp"
#include "io/reserve.hpp"

namespace karst {

/// As a size of a dataset.
inline hsize_t extent(std::int64_t n) { return static_cast<hsize_t>(n); }

/// Where a level is written.
struct PlotTarget {
  const Comm& comm;  ///< the ranks that write the file
  const PlotDescription& plot;
  int n_components;  ///< of all arrays
  hid_t file;
  const std::string& path;
  Reservation& room;
  std::int64_t metadata;  ///< more bytes than everything but the values takes in the file
};

/// Upper bound of the bytes of a level in the file without values, mainly its lists of boxes.
std::int64_t frame_bytes(const PlotDescription& plot, const Layout& layout);
/// Upper bound of the bytes of the datasets of a level without values, mainly tables of chunks.
std::int64_t table_bytes(const PlotDescription& plot, const PlotOrder& order);

/// Groups of the datasets of a level.
struct LevelGroups {
  hdf5::Handle cell_data;  ///< /VTKHDF/LevelL/CellData
  hdf5::Handle chombo;     ///< /level_L, where wanted
};
/// Creates everything of a level except its values: /VTKHDF/LevelL in the group vtk and, if requested, /level_L, with
/// lists of boxes. Collective.
LevelGroups write_level_frame(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order);
/// Creates only the groups, for a part. Collective.
LevelGroups create_level_groups(const PlotTarget& to, hid_t vtk, int level);

/// Writes the values of a level, in rounds of at most plot.buffer_bytes per rank. Collective.
void write_level_values(const PlotTarget& to, const LevelGroups& groups, int level, const PlotOrder& order);

}  // namespace karst
