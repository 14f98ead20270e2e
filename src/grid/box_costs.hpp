// SPDX-License-Identifier: BSD-3-Clause
// Cost of boxes, measured during a run from amounts of work, which are counted exactly, and the times that ranks take
// for them (docs/decisions/041-balance-by-feedback.md).
#pragma once

#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Distribution of the boxes of all levels to the ranks.
struct BoxCosts {
  bool equal = false;                     ///< every box costs the same
  std::vector<std::vector<double>> cost;  ///< [level][box of the layout] [s], >= 0; empty: the weights of Classify
  std::vector<double> slowness;           ///< [rank] time / that of an average rank for the same work; empty: 1 for all
  int ranks = 0;                          ///< number of ranks for a plan; 0: the actual number
};

/// One kind of work of this rank over some steps.
struct BoxWork {
  std::vector<std::vector<double>> amount;  ///< of a step, [level][own box], >= 0, in any unit: the same on all ranks
  double seconds = 0.0;                     ///< working time of this rank on it in all steps, without waiting
};

/// All work of this rank, [kind]: sums over steps. Empty: none yet.
struct RankWork {
  std::vector<double> amount, seconds;
};

/// Adds this number of steps of work of these kinds, after multiplying the previous sums by `kept`.
/// @param kept  0: only the new steps count; between 0 and 1: weights that decrease with age
void add_steps(RankWork& work, std::span<const BoxWork> kinds, int steps, double kept);

/// The time t of rank r for work of kind k is modelled as s_r c_k a_kr, with its amount a_kr: the costs c_k per amount
/// and the slowness s_r of ranks are computed alternately until they converge, Σ 1 / s_r = number of ranks. A rank is
/// slow because its processor is slow, or because its boxes cost more than their amounts indicate; the next
/// redistribution separates the two. Ranks without work count as average ones. The same on every rank. Collective.
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
