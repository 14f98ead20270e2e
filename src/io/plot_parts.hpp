// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles in parts (plotfile.hpp): the ranks that write a part together, and the position of its boxes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grid/layout.hpp"
#include "io/part_names.hpp"
#include "io/plot_level.hpp"

namespace karst {

/// Part of each rank, 0 to n - 1, every one with a rank: whole machines share a part where there are fewer parts than
/// machines, and no part spans two where there are more; neighbours stay together.
/// @param machines  of each rank (Comm::machines)
/// @param n         1 to the number of ranks
std::vector<int> parts_of_ranks(std::span<const int> machines, int n);

/// Cells that are consecutive both in a part and in the whole file.
struct PartRun {
  int part = 0;
  std::int64_t from = 0, to = 0;  ///< first cell in the part, in the whole
  std::int64_t cells = 0;
};
/// Of one level: a run per part and size of boxes, more where the ranks of a part are no neighbours.
struct PartRuns {
  std::vector<PartRun> runs;
  std::vector<std::int64_t> cells;  ///< of each part
};
/// O(boxes). Not collective.
PartRuns part_runs(const Layout& layout, std::span<const int> part_of_rank);

/// Upper bound of the bytes of the views of a level in the file.
std::int64_t view_bytes(const PlotDescription& plot, const PartRuns& runs);
/// The datasets of a level as views of those of the parts. By one process.
void write_level_views(const PlotTarget& to, const LevelGroups& groups, int level, const PlotOrder& order,
                       const PartRuns& runs);
/// Attributes of the root: number of parts, their names without it, the text that all of them hold, too.
inline constexpr const char *parts_number = "parts", *parts_names = "part_names", *parts_id = "parts_id";
/// Writes them. By one process.
void put_parts(const PlotTarget& to, int n, const std::string& id);

}  // namespace karst
