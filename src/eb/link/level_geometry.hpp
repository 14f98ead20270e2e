// SPDX-License-Identifier: BSD-3-Clause
// Geometry of one level: the VoF graph and the moments of its irregular VoFs.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/comm/memory.hpp"
#include "eb/cut/pieces.hpp"
#include "grid/level_graph.hpp"

namespace karst {

/// Moments of an irregular VoF, in units of the level's cell width h; positions are relative to the centre of its cell.
/// A VoF may contain pieces of neighbouring cells (cell merging), so κ may exceed 1 and positions may be outside of the
/// cell.
///
/// Closure, to round-off: wall_d = Σ α over faces on high sides d - Σ α over faces on low sides d, extra faces
/// included.
struct VofMoments {
  double kappa;      ///< volume / h³
  Vec3 centroid;     ///< of the fluid
  Vec3 wall;         ///< a_w n: wall area vector / h², n into the fluid
  double wall_area;  ///< area of the wall / h²
  Vec3 wall_centroid;
  std::array<double, 6> aperture;  ///< of the six primary faces, area / h²
  /// Centroids of the primary faces, relative to the centre of the cell's side, in the two other directions.
  std::array<std::array<float, 2>, 6> face_centroid;
};

/// Aperture and centroid of an extra face; the centroid is relative to the cell centre of its VoF.
struct ExtraFaceMoments {
  double aperture;
  std::array<float, 3> centroid;
};

/// Position of a VoF's value, and its distances to the wall.
struct VofCenter {
  /// Distance from the cell centre to the wall along the six sides / h; no_wall if there is none within one cell.
  std::array<float, 6> wall_distance;
  bool inside;  ///< the VoF contains the centre of its cell; otherwise all distances are no_wall
};
inline constexpr float no_wall = 2.0F;

/// Fluid of a cell that belongs to a VoF of another cell (cell merging), or fluid of other cells in a VoF.
struct JoinedPart {
  VofName home;  ///< home of the fluid of the cell; no_face: this is the cell of the VoF
  float kappa;   ///< volume / h³: > 0 in the cell that contains the fluid, < 0 in the cell whose VoF it belongs to
  std::uint16_t cell;  ///< offset in its box
};

/// Fluid of a cell before it was merged, and where it belongs. What several homes share stands there once for each.
struct KeptPiece {
  static constexpr std::uint8_t own_cell = 6;
  static constexpr double full_wall = 127.0;
  VofName home = no_face;           ///< no_face: its pore was removed
  double kappa = 0.0;               ///< of the part of this home: volume / h³
  std::array<float, 3> centroid{};  ///< of the piece, from the centre of the cell / h
  /// Of the piece: area vector of its wall into the fluid, over the area of its wall; times full_wall.
  std::array<std::int8_t, 3> wall{};
  std::uint16_t cell = 0;        ///< offset in its box
  std::uint8_t ordinal = 0;      ///< among the pieces of the cell
  std::uint8_t side = own_cell;  ///< towards the cell of the home
};

/// Area of one of the minerals on the wall of an irregular row that has several.
struct MixedWall {
  double area;        ///< / h²
  std::uint32_t row;  ///< index in LevelGeometry::moments
  MineralNumber mineral;
};

/// Parallel to the irregular rows (moments, centers) and extra faces (extra) of BoxGraph.
struct BoxMoments {
  std::span<const VofMoments> moments;
  std::span<const ExtraFaceMoments> extra;
  std::span<const VofCenter> centers;
};

struct LevelGeometry {
  int level = 0;
  LevelGraph graph;
  Array<VofMoments> moments;      ///< irregular VoFs of the own boxes, box after box, in row order
  Array<ExtraFaceMoments> extra;  ///< extra faces of the own boxes, box after box
  Array<VofCenter> centers;       ///< parallel to moments, or empty
  Array<JoinedPart> joined;       ///< of the cells of the own boxes, box after box
  /// Parallel to moments: the mineral of the largest part of the wall, no_mineral without wall. Empty if the level set
  /// has one mineral: all walls have number 0.
  Array<MineralNumber> mineral;
  Array<MixedWall> mixed;  ///< of the rows with several minerals, by row, then mineral; see for_each_mineral()
  /// If asked for (VolumeOptions): of the cut cells of the own boxes, and of whole ones in pores that were removed, box
  /// after box, by cell, then ordinal; all other fluid are VoFs that are whole cells.
  Array<KeptPiece> pieces;
  std::int64_t closed_faces = 0;  ///< open on one side only, closed; 0 if the smoothness of φ is known
  std::vector<std::int64_t> moments_begin, extra_begin;  ///< n_own_boxes + 1
  std::vector<std::int64_t> joined_begin;                ///< n_own_boxes + 1
  std::vector<std::int64_t> pieces_begin;                ///< n_own_boxes + 1; empty if pieces are not kept

  BoxMoments box(int local) const {
    const auto part = [](const auto& all, const std::vector<std::int64_t>& begin, std::size_t i) {
      return all.span().subspan(begin[i], begin[i + 1] - begin[i]);
    };
    return {part(moments, moments_begin, local), part(extra, extra_begin, local),
            centers.size() == 0 ? std::span<const VofCenter>{} : part(centers, moments_begin, local)};
  }
  bool keeps_pieces() const { return !pieces_begin.empty(); }
  std::span<const KeptPiece> pieces_in(int local) const {
    return pieces.span().subspan(pieces_begin[local], pieces_begin[local + 1] - pieces_begin[local]);
  }
  /// Memory per irregular VoF and extra face, without centers, merged parts and pieces.
  std::int64_t bytes_of_moments() const {
    return static_cast<std::int64_t>(moments.bytes() + extra.bytes() + mineral.bytes() + mixed.bytes());
  }
  /// Range of the parts of an own box in `joined`: [first, second).
  std::pair<std::int64_t, std::int64_t> joined_in(int local) const {
    if (joined_begin.empty()) return {0, 0};
    return {joined_begin[local], joined_begin[local + 1]};
  }
};

/// Calls f(mineral, area / h²) for the minerals on the wall of an irregular row (its index in LevelGeometry::moments),
/// in the order of their numbers. Σ area = wall_area of the row, to round-off. Not collective.
template <class F>
void for_each_mineral(const LevelGeometry& level, std::int64_t row, F&& f) {
  const std::span<const MixedWall> all = level.mixed.span();
  auto at = std::ranges::lower_bound(all, static_cast<std::uint32_t>(row), {}, &MixedWall::row);
  const bool is_mixed = at != all.end() && at->row == static_cast<std::uint32_t>(row);
  for (; is_mixed && at != all.end() && at->row == static_cast<std::uint32_t>(row); ++at) f(at->mineral, at->area);
  if (is_mixed || !(level.moments[row].wall_area > 0.0)) return;
  f(level.mineral.size() == 0 ? MineralNumber{0} : level.mineral[row], level.moments[row].wall_area);
}

}  // namespace karst
