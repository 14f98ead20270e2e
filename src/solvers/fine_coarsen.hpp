// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/fine_level.hpp"
#include "solvers/node_graph.hpp"

namespace karst {

struct CoarsenedLevel {
  NodeGraph graph;
  FineChildren children;
};

/// The first coarsening: one node per connected piece of a block of 2^3 cells (connection = a face of positive weight
/// inside the block). Weights and shifts are sums over the VoFs of a node, times `scale`; Dirichlet sides of the domain
/// become shifts. Threaded over boxes, O(VoFs). Collective.
CoarsenedLevel coarsen(const Comm& comm, const TwoPointLevel& level, float scale);

}  // namespace karst
