// SPDX-License-Identifier: BSD-3-Clause
// Where the pieces of a box are those of another geometry, with their homes and numbers. Used inside eb/ only.
#pragma once

#include <cstdint>
#include <vector>

#include "eb/link/home_cells.hpp"
#include "eb/link/piece_boxes.hpp"

namespace karst {

/// Parts of a box that are the same: all of it, and what lies within `reach` cells of each of its sides, edges and
/// corners.
class SameParts {
 public:
  static constexpr int reach = 3;
  SameParts() = default;  ///< none
  static SameParts all() {
    SameParts same;
    same.bits_ = (1U << 27) - 1U;
    return same;
  }
  /// A cell is another one.
  /// @param at  from the low corner of the box, which has `size` cells
  void exclude(const Index& at, const Index& size);
  /// @param step  -1, 0 or 1 per direction: to the side, edge or corner there; 0, 0, 0: the whole box
  bool has(const Index& step) const { return (bits_ >> number(step) & 1U) != 0; }

 private:
  static int number(const Index& step) { return step[0] + 1 + 3 * (step[1] + 1) + 9 * (step[2] + 1); }
  std::uint32_t bits_ = 0;
};

/// A cut box, and what became of its pieces.
struct LinkedBox {
  const PieceBox& box;
  const std::vector<PieceHomes>& homes;   ///< of the pieces
  const std::vector<std::uint8_t>& kept;  ///< of the ids: whether their pore stays
};

/// Per id of a box the number of its VoF; no_vof: merged with another or removed.
std::vector<std::uint16_t> vof_numbers(const LinkedBox& of);
inline constexpr std::uint16_t no_vof = 0xffff;

/// Parts in which cells have the same pieces, homes and numbers of VoFs. Not collective.
/// @param a, b  of the same cells
SameParts same_parts(const LinkedBox& a, const LinkedBox& b);

}  // namespace karst
