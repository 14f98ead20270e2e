// SPDX-License-Identifier: BSD-3-Clause
// Balls that touch the wall from inside the pore, with centres between the voxel centres.
//
// The distance d of the voxel centres misses the middle of a pore by up to half a voxel: in a slit 4 voxels wide it is
// at most 1.5. Between two neighbours x and x + e the distance goes like two straight lines, from x with the slope
// s₁ = d(x) - d(x - e) and from x + e with s₂ = d(x + e) - d(x + 2e), when both walls are planes; where they meet,
//
//   d(x + t e) = d(x) + s₁ t,  t = (d(x + e) - d(x) + s₂) / (s₁ + s₂),  0 < t < 1,
//
// is the middle, exactly so in slits of any inclination, in wedges, and in tubes and spheres centred on the line. It
// never exceeds the radius of slits, tubes and spheres. A solid neighbour counts as -d: the wall is taken halfway.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/comm/memory.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

/// The distance in the planes of a slab and copies of some around it. The slab must live as long.
class DistancePlanes {
 public:
  /// Holds `around` planes on both sides, as far as the image reaches. Collective.
  DistancePlanes(const Slabs<std::uint16_t>& distance, int around);
  DistancePlanes(const Slabs<std::uint16_t>&&, int) = delete;
  const Index& voxels() const { return voxels_; }
  const ImageWindow& held() const { return held_; }
  /// [ny][nx] [1/64 voxel]; nullptr when it is not held.
  const std::uint16_t* plane(int z) const {
    return z < held_.first || z >= held_.last ? nullptr : planes_[z - held_.first];
  }

 private:
  Index voxels_;
  ImageWindow held_;
  Array<std::uint16_t> below_, above_;
  std::vector<const std::uint16_t*> planes_;
};

/// Centre as seen from a voxel centre, and radius [1/64 voxel].
struct InscribedBall {
  Index offset;
  int radius = 0;
};

/// The 13 ways to a neighbour through faces, edges and corners, without their opposites.
inline constexpr std::array<Index, 13> ways{{{1, 0, 0},
                                             {0, 1, 0},
                                             {0, 0, 1},
                                             {1, 1, 0},
                                             {1, -1, 0},
                                             {1, 0, 1},
                                             {1, 0, -1},
                                             {0, 1, 1},
                                             {0, 1, -1},
                                             {1, 1, 1},
                                             {1, 1, -1},
                                             {1, -1, 1},
                                             {-1, 1, 1}}};

/// The largest ball with its centre between the pore voxel x and one of its 26 neighbours (not at either), larger than
/// d at both; none when there is none. Looks at voxels up to two planes away; those outside of the image or not held
/// offer nothing. x itself must be held. Not collective.
std::optional<InscribedBall> ball_between(const DistancePlanes& distance, const Index& x);

/// Radius of the larger of ball_between and the ball around x [1/64 voxel].
int ball_radius(const DistancePlanes& distance, const Index& x);

}  // namespace karst
