// SPDX-License-Identifier: BSD-3-Clause
// Load balance: a row of weights cut into contiguous intervals, one per rank (docs/decisions/001).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace karst {

struct Partition {
  std::vector<std::int64_t> begin;  ///< n_ranks + 1: rank r has the items [begin[r], begin[r + 1])
  double largest = 0.0;             ///< weight of the heaviest rank, times its slowness
  double imbalance = 1.0;           ///< largest / what it would be if weights could be split; 1: no weight at all, too
};

/// Cuts the weights into n_ranks intervals whose largest sum is the smallest possible; among such cuts it stays close
/// to equal shares. Ranks may be empty. Exact bisection on the largest sum: every probe is a greedy fill of n_ranks
/// binary searches, and both bounds move to sums that occur (Pinar & Aykanat, J. Parallel Distrib. Comput. 64 (2004)
/// 974). Deterministic; O(n + n_ranks log n) times a few probes. Throws Error for negative or non-finite weights. Not
/// collective.
/// @param slowness  [rank] > 0, time that a rank takes for a weight of 1: the longest time is made small; empty: all 1
Partition partition(std::span<const double> weights, int n_ranks, std::span<const double> slowness = {});

}  // namespace karst
