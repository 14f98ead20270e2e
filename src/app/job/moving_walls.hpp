// SPDX-License-Identifier: BSD-3-Clause
// Walls that move during a run (decision 062): where they are now, and how a process asks for their motion.
#pragma once

#include <utility>
#include <vector>

#include "app/job/job.hpp"
#include "eb/geometry.hpp"
#include "eb/moving/moved_level_set.hpp"
#include "eb/moving/wall_transfer.hpp"

namespace karst {

/// φ = φ0 - s of the run. Grounds are built from `now`.
struct MovingWalls {
  static constexpr int displacement_box = 16;  ///< cells along an edge of its boxes

  MovingWalls(const Comm& comm, const LevelSet& phi0, const Domain& domain, int level, StandingSolids standing = {})
      : before(phi0),
        displacement(comm, domain, displacement_box, level),
        now(phi0, displacement, std::move(standing)) {}
  MovingWalls(const MovingWalls&) = delete;
  MovingWalls& operator=(const MovingWalls&) = delete;
  /// As at the beginning. Collective.
  void put_back(const Comm& comm, const Domain& domain) {
    displacement = Displacement(comm, domain, displacement_box, displacement.level());
  }

  const LevelSet& before;     ///< φ0
  Displacement displacement;  ///< s
  MovedLevelSet now;
  std::vector<JobResult> steady{};  ///< of jobs that are done for each ground, on that of now (Job::does)
};

inline WallPieces wall_pieces_of(const Geometry& geometry) { return {geometry.grid, geometry.levels}; }

/// How far the walls are to move now.
struct WallMotion {
  WallRows distance;  ///< into the solid [h0]
  double over = 0.0;  ///< time that passes meanwhile without a step [s]
};

}  // namespace karst
