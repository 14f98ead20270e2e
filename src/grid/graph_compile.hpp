// SPDX-License-Identifier: BSD-3-Clause
// Renumbers the adjacency of one box from global names to slots, and finds its runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grid/level_graph.hpp"

namespace karst {

/// One box of a LevelGraph before it is stored.
struct CompiledBox {
  int n_own = 0, n_irregular = 0, n_coarse = 0, n_domain = 0;
  std::vector<Run> runs;
  std::vector<std::uint16_t> row_vof, row_cell;
  std::vector<std::array<std::uint16_t, 6>> neighbours;
  std::vector<ExtraFace> extra;
  std::vector<std::uint16_t> halo_vof;
  std::vector<HaloGroup> groups;

  std::uint64_t hash() const;                       ///< of everything but the boxes of the groups
  bool same_table(const CompiledBox& other) const;  ///< equal in everything but the boxes of the groups
};

CompiledBox compile_box(const Layout& layout, std::int64_t box, const BoxAdjacency& adjacency);

}  // namespace karst
