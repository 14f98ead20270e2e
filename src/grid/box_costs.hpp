// SPDX-License-Identifier: BSD-3-Clause
// What boxes cost, measured while a run works: from amounts of work that are counted exactly and times that ranks take
// for them (docs/decisions/041-balance-by-feedback.md).
#pragma once

#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/layout.hpp"

namespace karst {

/// How the boxes of all levels are dealt out to the ranks.
struct BoxCosts {
  bool equal = false;                     ///< every box costs the same
  std::vector<std::vector<double>> cost;  ///< [level][box of the layout] [s], >= 0; empty: the weights of Classify
  std::vector<double> slowness;           ///< [rank] time over that of a usual rank for the same; empty: 1 for all
  int ranks = 0;                          ///< another number than there are, for a plan; 0: those that there are
};

/// One kind of work of this rank over some steps.
struct BoxWork {
  std::vector<std::vector<double>> amount;  ///< of a step, [level][own box], >= 0, in any unit: the same on all ranks
  double seconds = 0.0;                     ///< that this rank has worked on it in all steps, without waiting
};

/// All that this rank has worked, [kind]: sums over steps. Empty: nothing yet.
struct RankWork {
  std::vector<double> amount, seconds;
};

/// So many steps more of work of these kinds, with this part of what was there.
/// @param kept  0: only the new steps count; between 0 and 1: those long ago less and less
void add_steps(RankWork& work, std::span<const BoxWork> kinds, int steps, double kept);

/// The time t of rank r for work of kind k is taken to be s_r c_k a_kr, with its amount a_kr: the costs c_k per amount
/// and the slowness s_r of ranks are found in turn until they stand still, Σ 1 / s_r = number of ranks. A rank is slow
/// because its processor is, or because its boxes cost more than their amounts tell: more of it shows after the next
/// move. Ranks without work count as usual ones. The same on every rank. Collective.
/// @param layouts  of all levels
/// @param kinds    the same kinds in the same order on every rank: the amounts of the boxes where they are now
/// @param work     of the same kinds, also of steps with boxes elsewhere
/// @return costs of a step
BoxCosts measured_costs(const Comm& comm, std::span<const Layout* const> layouts, std::span<const BoxWork> kinds,
                        const RankWork& work);

/// Time of each rank [s] for boxes of these costs. Not collective.
/// @param begin  [level] n_ranks + 1 positions in the boxes
std::vector<double> rank_times(const BoxCosts& costs, std::span<const std::vector<std::int64_t>> begin);

/// Longest time over the mean; 1 where there is no work.
double imbalance_of(std::span<const double> times);

}  // namespace karst
