// SPDX-License-Identifier: BSD-3-Clause
// The open faces between two levels, each with the coarse VoF behind it and the unknowns around both of its ends. For
// set-up only.
#pragma once

#include <functional>
#include <vector>

#include "fields/vof_lookup.hpp"

namespace karst {

/// An unknown and its position, in coarse cell widths from the centre of the coarse cell at a face; no_unknown: a point
/// on the wall.
struct LevelPoint {
  GlobalNumber unknown;
  Vec3 at;
};

/// A coarse cell and the side of it that touches the fine level.
struct LevelPlace {
  Index cell;
  int side;
  friend auto operator<=>(const LevelPlace&, const LevelPlace&) = default;
};

/// Data of the coarse side of a fine face.
struct BehindFace {
  bool found = false;
  VofName vof = no_face;
  VofName covered = no_face;  ///< the VoF under the fine level across the side, on a grid line with `vof`
  Vec3 center;                ///< of the cell of `vof`, as the points have it
  // Of an operator (look_behind()):
  GlobalNumber row = no_unknown;  ///< row whose balance the flux enters; no_unknown: a VoF without a row
  std::vector<LevelPoint> points;
};

/// A fine face and its connection to the coarse level.
struct LevelFace {
  VofName vof;
  ListedFace face;
  LevelPlace place;
  Vec3 ghost;  ///< fine cell centre across the face, from the centre of the coarse cell, in coarse cell widths
  BehindFace behind;

  /// Steps from the cell of the VoF to the one across the face: the piece at the face may have been merged from a
  /// neighbouring cell.
  Index steps() const;
  /// Cell centre of the fine VoF, in coarse cell widths from the centre of the coarse cell.
  Vec3 own_center() const;
};

/// θ of the wall on the grid line from a VoF towards a side, more than 1 without one.
using WallOnLine = std::function<double(VofName, int side)>;

/// Rings of VoFs around at_level_boundary() to be fetched for find_level_faces(), look_behind() and points_around(),
/// the VoFs themselves included.
inline constexpr int rings_at_levels = 4;

/// VoFs of own boxes that touch the next finer (covered neighbours) or the next coarser level.
std::vector<VofName> at_level_boundary(const VofLookup& vofs);

/// Every open face towards the coarse level of the own fine VoFs that are not covered, by VoF, primary ones first. A
/// coarse VoF behind a face has an open face at the same place; where faces of merged pieces were combined it is the
/// VoF beside it whose face has more area than its fine ones, or the nearest. Both look-ups must contain three rings
/// around at_level_boundary(). Collective.
std::vector<LevelFace> find_level_faces(const Comm& comm, VofLookup& coarse, const VofLookup& fine);

/// Data of the coarse side for an operator.
struct CoarseSight {
  const VofLookup& vofs;                     ///< contains three rings around at_level_boundary()
  std::function<GlobalNumber(VofName)> row;  ///< BehindFace::row of an own VoF
  WallOnLine walls;                          ///< empty: no points on the wall
};

/// Fills row and points of the coarse side of the faces. Collective.
void look_behind(const Comm& comm, const CoarseSight& coarse, std::vector<LevelFace>& faces);

/// Unknowns at cell centres around a VoF, found by steps along grid lines; for a VoF that does not contain its cell
/// centre, around its neighbours. In periodic domains of few cells an unknown occurs at several positions. Includes the
/// points where these lines meet the wall, if walls are given.
/// @param width  of the level's cells, in the units of at_start, where the centre of the VoF's cell is
std::vector<LevelPoint> points_around(const VofLookup& vofs, VofName start, int rings, double width,
                                      const Vec3& at_start, const WallOnLine& walls = {});

}  // namespace karst
