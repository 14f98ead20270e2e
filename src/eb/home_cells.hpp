// SPDX-License-Identifier: BSD-3-Clause
// Home cells (decision D3b): a piece of fluid whose cell centre lies in the solid joins the control volume across its
// largest aperture among those that hold their cell centre and lie on the same side of a coarse-fine boundary. A piece
// without such a neighbour stays a VoF of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "eb/piece_boxes.hpp"

namespace karst {

enum class ControlVolumes {
  pieces,      ///< every piece is a VoF
  home_cells,  ///< small pieces join a neighbour
};

inline constexpr std::uint8_t own_home = 6;  ///< a piece that is its own home

/// Where each piece of a box belongs.
struct Homes {
  std::vector<std::vector<std::uint8_t>> side;  ///< [slot][piece]: side towards the cell of the home, or own_home
  std::vector<std::vector<std::uint16_t>> id;   ///< [slot][piece]: id of the home in its box
  std::int64_t joined = 0;                      ///< pieces that joined a neighbour, this rank
  std::int64_t orphans = 0;    ///< pieces without a fluid-centred neighbour: VoFs of their own, this rank
  double orphan_volume = 0.0;  ///< Σ κ of the orphans, this rank
};

/// The decision for all pieces of the own boxes and of the copies. Collective.
Homes find_homes(const PieceBoxes& boxes, ControlVolumes control_volumes);

}  // namespace karst
