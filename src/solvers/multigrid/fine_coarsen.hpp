// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/multigrid/fine_level.hpp"
#include "solvers/multigrid/level_links.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

struct CoarsenedLevels {
  NodeGraph graph;
  std::vector<FineChildren> children;  ///< per grid level
};

/// The first coarsening: one node per connected piece of a block of 2^3 cells of a grid level (connection = a face of
/// positive weight inside the block that is not weak, is_weak()); nodes in the order level, box, block. VoFs without
/// connections have no node. Weights and shifts are sums over the VoFs of a node, times `scale`; Dirichlet sides of the
/// domain become shifts. Threaded over boxes, O(VoFs). Collective.
/// @param[in,out] links  ends get their nodes
CoarsenedLevels coarsen(const Comm& comm, std::span<const TwoPointLevel> levels, LevelLinks& links, float scale);

}  // namespace karst
