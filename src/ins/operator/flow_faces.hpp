// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fields/level_faces.hpp"
#include "ins/operator/flow_lookup.hpp"

namespace karst {

/// Over all ranks.
struct LevelFaceCounts {
  std::int64_t faces = 0;   ///< fine faces that carry a flux
  std::int64_t closed = 0;  ///< of flow cells, without a coarse flow cell behind them: closed
};

/// A flux passes, because flow cells stand on both sides.
inline bool is_linked(const LevelFace& f) { return f.behind.found && f.behind.row != no_unknown; }

/// Faces of flow cells among those between two levels, before the flow rows are made: tells both look-ups which of
/// their sides are open. Collective.
/// @param all  Composite::coarse_fine()
std::vector<LevelFace> find_flow_faces(const Comm& comm, std::span<const LevelFace> all, FlowLookup& coarse,
                                       FlowLookup& fine, LevelFaceCounts& counts);

}  // namespace karst
