// SPDX-License-Identifier: BSD-3-Clause
// One level of a plotfile: see plotfile.hpp for what stands where.
#pragma once

#include <string>

#include "io/hdf5_handle.hpp"
#include "io/plot_order.hpp"
#include "io/plotfile.hpp"
#include "io/reserve.hpp"

namespace karst {

/// Where a level is written.
struct PlotTarget {
  const Comm& comm;
  const PlotDescription& plot;
  hid_t file;
  const std::string& path;
  Reservation& room;
  std::int64_t metadata;  ///< more bytes than everything but the values takes in the file
};

/// More bytes than the lists, views and chunk table of a level take in the file.
std::int64_t metadata_bytes(const PlotDescription& plot, const Layout& layout, const PlotOrder& order);

/// /level_L without its values; returns the dataset for them, still empty. Collective.
hdf5::Handle write_level_header(const PlotTarget& to, int level, const PlotOrder& order);
/// Fills and writes the values in rounds of at most plot.buffer_bytes per rank. Collective.
void write_level_values(const PlotTarget& to, int level, const PlotOrder& order, hid_t values);
/// /VTKHDF/LevelL: boxes, and views of the values. Collective.
void write_level_view(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order);

}  // namespace karst
