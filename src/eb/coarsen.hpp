// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "eb/level_geometry.hpp"

namespace karst {

/// A level coarsened by 2, and the way down to it.
struct Coarsened {
  LevelGeometry geometry;
  /// Coarse VoF of every own fine VoF: [box][VoF]. Fine and coarse box share place and owner.
  std::vector<std::vector<std::uint16_t>> parent;
};

/// One coarse VoF for every connected part of the fluid in a block of 2^3 cells, so that throats and walls thinner than
/// a coarse cell stay what they are (multi-valued cells). With fine values f and coarse values c:
///   κ_c = Σ κ_f / 8,  α_c = Σ α_f / 4,  (a_w n)_c = Σ (a_w n)_f / 4,  centroids weighted by κ, α and wall area.
/// Volume, wall area and closure are preserved to round-off. The main VoF of a cell is the one of largest κ.
/// The layout keeps its boxes and owners; the box size halves and must be even. Collective.
Coarsened coarsen(const Comm& comm, const LevelGeometry& fine);

}  // namespace karst
