// SPDX-License-Identifier: BSD-3-Clause
// How far the wall has moved (docs/decisions/059-walls-that-move.md): the state of walls that move.
//
//   φ = φ0 - s
//
// φ0 is the level set of the image or of the shapes, s the displacement [h0] of the wall along its normal, into the
// fluid: s > 0 where the solid has grown, s < 0 where it has dissolved. s is given at the corners of a lattice and
// interpolated trilinearly; it is stored in boxes around the walls, where these are and where they were, and is 0
// elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "eb/moving/corner_blocks.hpp"
#include "eb/shapes/level_set.hpp"

namespace karst {

class Displacement {
 public:
  /// No displacement anywhere.
  /// @param domain    cells of level 0
  /// @param box_size  of the boxes in which s is stored: 8, 16 or 32
  /// @param level     of the lattice: corners are 2^-level apart
  /// Collective.
  Displacement(const Comm& comm, const Domain& domain, int box_size = 16, int level = 0);

  int level() const { return level_; }
  const CornerBlocks& blocks() const { return *blocks_; }
  CornerBlocks& blocks() { return *blocks_; }
  /// Over the own corners, then room for those of the halo [h0].
  std::span<double> values() { return values_.span(); }
  std::span<const double> values() const { return values_.span(); }
  /// Of each own box: |∇s| is not larger in cells with a corner near the wall.
  std::span<double> slopes() { return slopes_; }
  std::span<const double> slopes() const { return slopes_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.bytes()); }  ///< this rank

  /// Of the own corners of all ranks before this one. Collective.
  std::int64_t first_own_corner(const Comm& comm) const { return comm.exclusive_sum(blocks_->n_own_corners()); }

  /// Adds boxes (any keys, on any rank) in which s = 0, and distributes all boxes evenly, in Morton order; false when
  /// there is none that is new on any rank. Collective.
  bool add_boxes(const Comm& comm, std::span<const std::uint64_t> keys);

 private:
  int level_;
  std::unique_ptr<CornerBlocks> blocks_;
  Array<double> values_;
  std::vector<double> slopes_;
};

/// Corners around a wall that its motion reads: the band and the stencils at its rim, and one step of the wall.
constexpr int displacement_reach = 8;

/// Keys of the boxes within displacement_reach of corners of a box that are flagged.
/// @param corners  of a box of the lattice, as flagged (x fastest)
std::vector<std::uint64_t> boxes_around(const Layout& lattice, const Box& corners, std::span<const std::uint8_t> flags);

/// Adds the boxes around all walls of φ0. Collective.
void add_boxes_at_walls(const Comm& comm, const LevelSet& phi0, Displacement& displacement);

}  // namespace karst
