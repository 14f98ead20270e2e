// SPDX-License-Identifier: BSD-3-Clause
// The VoF graph of a level: which pieces of fluid exist in each box and which of them share a face.
//
// The own VoFs of a box are numbered in lexicographic order of their cells (x fastest; pieces of one cell follow
// each other). After them come the halo slots and one last "closed" slot. A field is one array over those slots.
//   own VoFs | halo VoFs (sorted by owner box and VoF) | coarse-fine ghosts | domain ghosts | closed slot
// Connectivity is held in two forms:
//   runs    x-consecutive VoFs that are regular (κ = 1, six whole faces) and whose neighbours sit at constant
//           distances in the numbering: no table, no gather, about 2 bytes per VoF;
//   rows    all other VoFs: a table of six 16-bit slots each, sides in the order -x +x -y +y -z +z; a side without
//           fluid points to the closed slot. Irregular VoFs come first among the rows of a box.
// Further connections (a second neighbour across one side, or a diagonal one) are extra faces.
// A face in direction d belongs to the VoF on its high side: a face field stores it in component d at that slot.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/comm.hpp"
#include "base/memory.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Global name of a VoF: its box in the layout and its number among the VoFs of the box, packed in 64 bits.
using VofName = std::uint64_t;
constexpr VofName vof_name(std::int64_t box, int vof) {
  return (static_cast<std::uint64_t>(box) << 16) | static_cast<std::uint64_t>(vof);
}
constexpr std::int64_t box_of(VofName n) { return static_cast<std::int64_t>(n >> 16); }
constexpr int vof_of(VofName n) { return static_cast<int>(n & 0xffff); }

/// What lies across a side when it is not a VoF of this level.
constexpr VofName no_face = ~VofName{0};          ///< solid: no fluid face
constexpr VofName domain_face = ~VofName{0} - 1;  ///< open face on the end of the domain
constexpr VofName coarse_face = ~VofName{0} - 2;  ///< open face towards the next coarser level
constexpr bool is_vof(VofName n) { return n < coarse_face; }

struct ExtraConnection {
  std::uint16_t vof;  ///< own VoF
  std::uint8_t side;  ///< 0..5: direction and sense of the face, seen from vof
  VofName neighbour;
};

/// Adjacency of one box, as the makers of a graph hand it in.
struct BoxAdjacency {
  std::vector<std::uint16_t> cell;              ///< n_own: offset of the VoF's cell in the box, not decreasing
  std::vector<std::uint8_t> irregular;          ///< n_own: 1 when κ or an aperture differs from 1
  std::vector<std::array<VofName, 6>> primary;  ///< n_own: neighbour across each side
  std::vector<ExtraConnection> extra;           ///< sorted by vof, then as the maker wants
};

/// n VoFs first, first + 1, ... in x-consecutive cells; neighbour across side 2 + s is VoF + offset[s].
struct Run {
  std::uint16_t first, length, cell;
  std::array<std::int16_t, 4> offset;
};

/// One more face of a VoF (both slots of this box).
struct ExtraFace {
  std::uint16_t vof, neighbour;
  std::uint8_t side;
};

/// Read-only view of one box of a LevelGraph.
struct BoxGraph {
  Box cells;
  std::int64_t box;  ///< position in the layout
  int n_own = 0, n_halo = 0, n_irregular = 0;
  std::span<const Run> runs;
  std::span<const std::uint16_t>
      row_vof;  ///< VoF of each row; the first n_irregular are the irregular VoFs, increasing
  std::span<const std::uint16_t> row_cell;                   ///< offset of its cell in the box
  std::span<const std::array<std::uint16_t, 6>> neighbours;  ///< per row
  std::span<const ExtraFace> extra;
  std::span<const VofName> halo;  ///< n_halo: name, or coarse_face / domain_face
  int closed() const { return n_own + n_halo; }
  int n_slots() const { return n_own + n_halo + 1; }
};

}  // namespace karst
