// SPDX-License-Identifier: BSD-3-Clause
// Numerics of a moving wall on one block of corners, no communication. Lengths and p are in units of the spacing of the
// corners here, positions in corners.
//
// p = φ at corners. The band are the corners within five steps along edges of a corner at the wall. Each has a foot,
// the nearest point of the wall (wall_feet.hpp). The search for it begins at the nearest of the projections of the
// corners at the wall, which are passed on from corner to corner.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "eb/moving/wall_feet.hpp"
#include "eb/shapes/level_set.hpp"

namespace karst {

/// |∇p| for ∂p/∂t = V |∇p|: one-sided differences (WENO of third order; Jiang & Peng, SIAM J. Sci. Comput. 21 (2000)
/// 2126), chosen by the sign of V (Godunov's scheme; Osher & Shu, SIAM J. Numer. Anal. 28 (1991) 907). Reads two
/// corners on each side.
double upwind_slope(const CornerValues& p, const Index& corner, double speed);

/// φ of a level at corners of its lattice, times 2^level: in units of their spacing.
void evaluate_at_corners(const LocalLevelSet& phi, const Box& corners, int level, std::span<double> p);

class WallBand {
 public:
  static constexpr int inner = 3;         ///< corners up to this number of steps from the wall are evolved
  static constexpr int width = 5;         ///< farther ones, up to this number, are extended
  static constexpr int halo = width + 2;  ///< corners around a block that are read
  static constexpr std::uint8_t far = 255;

  /// Finds the band in `own` and the feet of its corners.
  /// @param p  on own.grown(halo)
  void find(const Box& own, const CornerValues& p);
  const std::vector<Foot>& feet() const { return feet_; }

  enum class Near : std::uint8_t { nothing, wall, hidden };
  /// Whether the wall crosses an edge at the corner, or may hide near it: |p| is smallest there, and small, as where a
  /// grain has just vanished between corners.
  static Near what_is_near(const CornerValues& p, const Index& corner);

 private:
  void find_sources(const CornerValues& p, const Box& around);
  void spread(const CornerValues& p, const Box& own);
  bool is_hidden(std::int64_t corner) const { return hidden_[source_[corner]] != 0; }

  std::vector<std::uint8_t> fluid_, maybe_, steps_;
  std::vector<std::int32_t> source_;  ///< of each corner: number of the nearest projection
  std::vector<Vec3> projections_;     ///< of the corners at the wall
  std::vector<std::uint8_t> hidden_;  ///< whether they are such
  struct Reached {
    Index corner;
    std::int32_t at;  ///< its place in the block
  };
  std::vector<Reached> now_, next_;  ///< corners at the present distance
  std::vector<Foot> feet_;
};

}  // namespace karst
