// SPDX-License-Identifier: BSD-3-Clause
// Cutting a box of cells with the level set.
#pragma once

#include <cstdint>

#include "eb/cut/pieces.hpp"

namespace karst {

/// Octants (cubes of `width` cells, counted from the low corner of the box) in a box and beyond its faces that are
/// covered by a finer level: octants -1 .. 2 per direction, one bit each.
struct RefinedOctants {
  std::uint64_t mask = 0;
  int width = 1;
  Index size{};  ///< cells of a box clipped at the domain boundary: the next octant begins after them; 0: not clipped

  void add(const Index& octant) { mask |= bit(octant); }
  /// They cover the same cells.
  friend bool operator==(const RefinedOctants& a, const RefinedOctants& b) {
    return a.mask == b.mask && (a.mask == 0 || (a.width == b.width && a.size == b.size));
  }
  /// @param cell  relative to the low cell of the box, from -width to 3 width - 1
  bool covers(const Index& cell) const {
    if (mask == 0) return false;  // no finer level: width is unused
    Index octant;
    for (int d = 0; d < 3; ++d) {
      const bool behind = size[d] > 0 && cell[d] >= size[d];
      octant[d] = behind ? (size[d] + width - 1) / width : (cell[d] + width) / width - 1;
    }
    return (mask & bit(octant)) != 0;
  }

 private:
  static constexpr std::uint64_t bit(const Index& octant) {
    return std::uint64_t{1} << (octant[0] + 1 + 4 * (octant[1] + 1) + 16 * (octant[2] + 1));
  }
};

/// Cuts the cells of a box of level `level` (cell width 2^-level in the coordinates of φ).
///
/// Every number on a face depends only on φ on that face, so both boxes at a face have bitwise the same numbers. A face
/// between a refined and an unrefined cell is the sum of the four faces of the next finer level.
/// @param phi    holds the box and its faces
/// @param cells       at most 32 cells per direction
/// @param n_minerals  of the level set: if more than one, walls are divided among them
BoxPieces cut_box(const LocalLevelSet& phi, const Smoothness& smoothness, const Box& cells, int level,
                  const RefinedOctants& refined = {}, int n_minerals = 1);

/// Classification of a box without cutting it.
struct BoxContent {
  enum class Kind : std::uint8_t { no_fluid, all_fluid, mixed } kind = Kind::mixed;
  double cut_cells = 0;    ///< estimate; 0 unless mixed
  double fluid_cells = 0;  ///< estimate
};

/// Fast classification of a box. no_fluid and all_fluid are certain where the smoothness of φ is known; mixed is
/// certain where a sample spacing is given, and otherwise except for walls that pass within a cell of the box. With a
/// Lipschitz bound a few evaluations per 4^3 cells near the wall, more only until fluid and solid are found; without
/// it, one per sample.
BoxContent classify(const LocalLevelSet& phi, const Smoothness& smoothness, const Box& cells, int level);

/// Cells per direction of a block in which signs are evaluated.
constexpr int block_width = 4;

}  // namespace karst
