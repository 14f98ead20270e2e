// SPDX-License-Identifier: BSD-3-Clause
// The walls around a flow cell.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "eb/link/level_geometry.hpp"

namespace karst {

class FlowLookup;

inline constexpr double least_theta = 1e-2;  ///< a wall nearer than this on a grid line counts as this far away

/// Distances from a cell centre to the walls on the grid lines / h; no_wall where there is none within one cell.
struct Walls {
  std::array<double, 6> theta{no_wall, no_wall, no_wall, no_wall, no_wall, no_wall};
  Vec3 normal;         ///< of a nearly plane wall, into the fluid; 0 when it is not known
  Vec3 area;           ///< a_w n of all walls of the VoF
  bool plane = false;  ///< they are one plane
  /// Bits of the sides towards which a wall is met within one cell.
  std::uint8_t met() const;
};

/// The walls of all VoFs of a level. Those of the own ones are found once: each is asked for by its own row and by
/// those of its neighbours.
class CellWalls {
 public:
  /// The look-up must outlive it. Threaded, not collective.
  explicit CellWalls(const FlowLookup& lookup);
  /// @param[out] scratch  holds them for VoFs of other ranks
  const Walls& of(VofName v, Walls& scratch) const;
  /// Walls::met().
  std::uint8_t met(VofName v) const;
  /// The same of the own VoFs of a box.
  std::span<const std::uint8_t> met_in(int box) const;

 private:
  Walls find(VofName v) const;
  void find_in(int box);

  const FlowLookup& lookup_;
  std::vector<Walls> cut_;          ///< of the own irregular VoFs, parallel to the moments
  std::vector<std::uint8_t> met_;   ///< of the own VoFs; walls of whole cells are half a cell away
  std::array<Walls, 64> of_whole_;  ///< by met_
};

}  // namespace karst
