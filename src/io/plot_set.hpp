// SPDX-License-Identifier: BSD-3-Clause
// Datasets of a plotfile: large ones written by all ranks box by box, and small ones written by rank 0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/plot_level.hpp"

namespace karst {

/// Own boxes [begin, end) in file order, as one round of writing.
struct PlotRound {
  std::int64_t begin = 0, end = 0, cells = 0;
};

/// Description of a dataset of values.
struct PlotShape {
  std::string name{}, unit{};
  std::int64_t per_cell = 1;  ///< values
  bool in_rows = false;       ///< dimensions (cells, per_cell) instead of (cells × per_cell)
  bool flags = false;         ///< bytes, no floating-point numbers
  bool chombo = false;        ///< in /level_L, not in /VTKHDF/LevelL/CellData
};
/// Bytes of a value of a dataset.
std::int64_t value_bytes(const PlotShape& shape);
/// Of a level, in the order in which they are written: the arrays, the flags of hidden cells, the part for yt.
std::vector<PlotShape> plot_shapes(const PlotDescription& plot);

/// One dataset: values of the boxes of a level, in file order. A process that writes the file alone compresses the
/// chunks by its threads; HDF5 would do it one after the other.
struct PlotSet {
  hdf5::Handle data;
  PlotShape shape;
  std::int64_t chunk_bytes = 0;   ///< of a chunk that is compressed here; 0: HDF5 does it, or nothing is compressed
  std::int64_t n_chunks = 0;      ///< written
  std::vector<std::byte> rest{};  ///< of the next chunk, not yet written
};

/// A dataset that rank 0 writes and the others only create. Collective.
void write_list(const PlotTarget& to, hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> sizes,
                const void* values);

/// Values per chunk of a dataset with so many per cell: whole boxes, or whole components of a large one; 64 KiB or a
/// little less where boxes allow, since readers that fetch box by box unpack one chunk at least for each.
std::int64_t chunk_values(const PlotOrder& order, std::int64_t per_cell, bool in_rows);

/// Dimensions of a dataset of so many cells: (cells × per_cell), or (cells, per_cell) of one in rows.
std::vector<hsize_t> set_sizes(const PlotShape& shape, std::int64_t cells);

/// A dataset without values. Collective.
/// @param properties  of its creation
hdf5::Handle create_set(const PlotTarget& to, hid_t parent, const PlotShape& shape, const PlotOrder& order,
                        hid_t properties);
/// One whose values will stand in this file. Collective.
PlotSet create_stored_set(const PlotTarget& to, hid_t parent, const PlotShape& shape, const PlotOrder& order);

/// Writes the values of a round, box after box. Collective.
void write_round(const PlotTarget& to, PlotSet& set, const PlotOrder& order, const PlotRound& round,
                 const void* values);
/// After the last round. Collective.
void finish_set(const PlotTarget& to, PlotSet& set);

/// /level_L of the Chombo layout without its values: attributes and lists. Collective.
/// @return its group
hdf5::Handle write_chombo_level(const PlotTarget& to, int level, const PlotOrder& order);
/// What the Chombo layout has at the root. Collective.
void write_chombo_root(const PlotTarget& to);

}  // namespace karst
