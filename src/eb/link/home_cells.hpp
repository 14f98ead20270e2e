// SPDX-License-Identifier: BSD-3-Clause
// Home cells (decision D3b): a piece of fluid whose cell centre lies in the solid joins the control volume across its
// largest aperture among those that hold their cell centre and lie on the same side of a coarse-fine boundary. A piece
// without such a neighbour stays a VoF of its own.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "eb/link/piece_boxes.hpp"

namespace karst {

enum class ControlVolumes {
  pieces,      ///< every piece is a VoF
  home_cells,  ///< small pieces join a neighbour
};

/// The homes of a piece. Where symmetry leaves no choice, several neighbours get equal shares of it.
struct PieceHomes {
  std::uint8_t sides = 0;             ///< bits of the sides towards the cells of the homes; 0: its own home
  std::array<std::uint16_t, 6> id{};  ///< per side: of the home in its box; own home: the first one
  bool own() const { return sides == 0; }
  bool towards(int side) const { return (sides >> side & 1U) != 0; }
  double share() const { return sides == 0 ? 1.0 : 1.0 / std::popcount(sides); }
};

/// Where each piece of a box belongs.
struct Homes {
  std::vector<std::vector<PieceHomes>> of;  ///< [slot][piece]
  std::int64_t joined = 0;                  ///< pieces that joined neighbours, this rank
  std::int64_t orphans = 0;                 ///< pieces without a fluid-centred neighbour: VoFs of their own, this rank
  double orphan_volume = 0.0;               ///< Σ κ of the orphans, this rank
};

/// The decision for all pieces of the own boxes and of the copies. Collective.
Homes find_homes(const PieceBoxes& boxes, ControlVolumes control_volumes);

}  // namespace karst
