// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a run have told one another, counted: of summary.json, and what a plan for other ranks begins with.
#pragma once

#include "base/comm/comm.hpp"
#include "base/comm/timer.hpp"
#include "base/core/wall_clock.hpp"
#include "eb/geometry.hpp"
#include "grid/rank_plan.hpp"

namespace karst {

class Json;

/// Of the jobs of a run, set-up included; without what makes geometries, draws, and writes files.
struct Communication {
  double seconds = 0.0;                         ///< of the slowest rank; 0: nothing was counted
  OverRanks messages;                           ///< that a rank sends
  OverRanks bytes;                              ///< in these messages
  OverRanks collectives;                        ///< calls for all ranks; those inside PETSc are not counted
  OverRanks waited;                             ///< for other ranks [s]
  OverRanks exchange_messages, exchange_cells;  ///< that a rank sends in one halo exchange of all levels, at most
                                                ///< (RankPlan)
};

/// While it lives jobs are at work.
class CountedJobs {
 public:
  CountedJobs();
  /// Since then. Collective; the same on every rank.
  Communication told(const Comm& comm, const Geometry& geometry) const;

 private:
  Spent aside_;  // by what does not count
  Traffic sent_;
  WallClock clock_;
};

Json to_json(const Communication& communication);
/// Of a summary. Throws JsonError where something is missing.
Communication read_communication(const Json& json);

}  // namespace karst
