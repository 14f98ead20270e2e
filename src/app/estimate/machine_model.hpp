// SPDX-License-Identifier: BSD-3-Clause
// How long a run takes on ranks of a machine that need not be there. What a smaller run has counted is carried over:
//
//   seconds = w C i g + M l + B / b + R r log2(ranks)
//
//   C i: fluid cells of a rank times the imbalance    w: seconds per cell    g: slow-down of cores that share a memory
//   M, B: messages of a rank and their bytes          l, b: latency and bandwidth of a message
//   R: calls for all ranks                            r: seconds of one per doubling of the ranks
//
// w is what the smaller run took, less the price of what it sent. M and B go as the messages and cells of one halo
// exchange (rank_plan.hpp), R stays. Iterations and steps are those of that run. tools/karst_machine.py fits g, l, b
// and r to runs; docs/performance.md says how far off it is.
#pragma once

#include <string>

#include "app/estimate/memory_estimate.hpp"
#include "app/job/communication.hpp"
#include "base/deck/deck.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

struct Machine {
  std::string name = "this machine";
  int cores = 1;            ///< that share a memory
  double slow_down = 1.0;   ///< g where all of them work
  double latency = 1e-6;    ///< l [s]
  double bandwidth = 1e10;  ///< b [B/s]
  double reduction = 1e-6;  ///< r [s]

  /// g of so many cores at work: straight from 1 for one to slow_down for all.
  double slow_down_of(double at_work) const;
};
/// Declares and reads all keys of a machine file.
void read(Reader& in, Machine& machine);
/// Throws Error with all mistakes.
Machine read_machine(const std::string& path);

/// A finished run.
struct CountedRun {
  Communication communication;
  int ranks = 0, threads = 0;
  double fluid = 0.0;      ///< cells
  double imbalance = 1.0;  ///< of its least even level
};
/// @param folder  of the run. Throws Error: no summary, not completed, one rank or nothing counted
CountedRun read_counted_run(const std::string& folder);

/// Seconds of the jobs of a run, set-up included.
struct PlannedSeconds {
  double work = 0.0, messages = 0.0, collectives = 0.0;
  double total() const { return work + messages + collectives; }
};

/// Other ranks for what a run does.
struct OtherRanks {
  int ranks = 0;
  double fluid = 0.0, imbalance = 1.0;  ///< cells of all ranks
  OverRanks messages, cells;            ///< of one halo exchange
};
/// @param run  gives work and counts; its threads of each rank are those of the other ranks
PlannedSeconds planned_seconds(const Machine& machine, const CountedRun& run, const OtherRanks& other);

/// The ranks that a grid is dealt out to.
struct GridPlan {
  RankPlan plan;
  int ranks = 0;
  double imbalance = 1.0;  ///< of the least even level
};
GridPlan plan_of(const GridHierarchy& grid);

/// Boxes, balance and messages of the ranks, as lines for the terminal.
/// @param counts  of the cells: bytes go by the fluid in a box, on average
std::string plan_text(const GridPlan& plan, const GridCounts& counts);
/// What the jobs take there, as a run in a folder took.
std::string seconds_text(const Machine& machine, const CountedRun& run, const std::string& folder, const GridPlan& plan,
                         const GridCounts& counts);

}  // namespace karst
