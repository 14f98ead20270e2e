// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/comm/comm.hpp"
#include "grid/level_graph.hpp"

namespace karst {

/// Plan that fills the halo VoFs of all own boxes: groups whose source box is own become local copies; all others are
/// requested once from their owners, which store the list of values to send. Collective.
HaloPlan make_halo_plan(const Comm& comm, const LevelGraph& graph);

}  // namespace karst
