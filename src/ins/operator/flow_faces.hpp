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

/// An open side of a coarse VoF.
struct CoarseSide {
  VofName vof;
  int side;
};

/// Whether the face is open, because there are flow cells on both sides.
inline bool is_linked(const LevelFace& f) { return f.behind.found && f.behind.row != no_unknown; }

/// Faces of flow cells among those between two levels, found before the flow rows are set up: informs both look-ups
/// which of their sides are open. Collective.
/// @param all  Composite::coarse_fine()
std::vector<LevelFace> find_flow_faces(const Comm& comm, std::span<const LevelFace> all, FlowLookup& coarse,
                                       FlowLookup& fine, LevelFaceCounts& counts);

}  // namespace karst
