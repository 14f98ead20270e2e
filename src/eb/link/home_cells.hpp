// SPDX-License-Identifier: BSD-3-Clause
// Home cells (cell merging): a piece of fluid whose cell centre is in the solid is merged with the control volume
// across its largest aperture, among those that contain their cell centre and are on the same side of a coarse-fine
// boundary; of equal ones with the one farther from the wall, and where that is equal, too, several share it, except at
// such a boundary. A piece without such a neighbour remains a separate VoF (isolated fragment, "orphan").
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "eb/link/piece_boxes.hpp"

namespace karst {

enum class ControlVolumes {
  pieces,      ///< every piece is a VoF
  home_cells,  ///< small pieces are merged with a neighbour
};

/// What becomes of the pieces.
struct VolumeOptions {
  VolumeOptions(ControlVolumes of_pieces = ControlVolumes::home_cells, bool keep = false)
      : volumes(of_pieces), keep_pieces(keep) {}
  ControlVolumes volumes;
  bool keep_pieces;  ///< LevelGeometry::pieces and Geometry::topology, for walls that move
};

/// The homes of a piece. If symmetry leaves several candidates, each of them gets an equal part of it.
struct PieceHomes {
  std::uint8_t sides = 0;             ///< bits of the sides towards the cells of the homes; 0: its own home
  std::array<std::uint16_t, 6> id{};  ///< per side: of the home in its box; own home: the first one
  bool own() const { return sides == 0; }
  bool towards(int side) const { return (sides >> side & 1U) != 0; }
  double share() const { return sides == 0 ? 1.0 : 1.0 / std::popcount(sides); }
  friend bool operator==(const PieceHomes&, const PieceHomes&) = default;
};

/// Home of each piece of a box.
struct Homes {
  std::vector<std::vector<PieceHomes>> of;  ///< [slot][piece]
  std::int64_t joined = 0;                  ///< pieces merged with neighbours, this rank
  std::int64_t orphans = 0;    ///< pieces without a fluid-centred neighbour, which are separate VoFs, this rank
  double orphan_volume = 0.0;  ///< Σ κ of the orphans, this rank
};

/// Homes of the pieces of own boxes where they are known: nullptr elsewhere; empty: of none.
using KnownHomes = std::vector<const std::vector<PieceHomes>*>;

/// Determines the homes of all pieces of the own boxes and of the copies. Collective.
Homes find_homes(const PieceBoxes& boxes, ControlVolumes control_volumes, const KnownHomes& known = {});

}  // namespace karst
