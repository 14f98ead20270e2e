// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/comm.hpp"
#include "grid/level_graph.hpp"

namespace karst {

/// VoFs 2 to `depth` faces away from the own VoFs of each box, own ones and those of the depth-1 halo left out; sorted.
/// Layer by layer, the neighbours of the layer before are asked from the owners. Collective.
/// @param graph  with a halo of depth 1; its plan is not used
/// @return one list per own box
std::vector<std::vector<VofName>> find_deep_halo(const Comm& comm, const LevelGraph& graph, int depth);

}  // namespace karst
