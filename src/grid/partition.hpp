// SPDX-License-Identifier: BSD-3-Clause
// Load balancing: division of a sequence of weights into contiguous intervals, one per rank (docs/decisions/001).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace karst {

struct Partition {
  std::vector<std::int64_t> begin;  ///< n_ranks + 1: rank r has the items [begin[r], begin[r + 1])
  double largest = 0.0;             ///< weight of the heaviest rank, times its slowness
  double imbalance = 1.0;           ///< largest / its value for weights that can be split; also 1 without any weight
};

/// Divides the weights into n_ranks intervals with the smallest possible largest sum; among such divisions it chooses
/// one close to equal sums. Ranks may be empty. Exact bisection on the largest sum: every probe is a greedy fill by
/// n_ranks binary searches, and both bounds move to sums that occur (Pinar & Aykanat, J. Parallel Distrib. Comput. 64
/// (2004) 974). Deterministic; O(n + n_ranks log n) times a few probes. Throws Error for negative or non-finite
/// weights. Not collective.
/// @param slowness  [rank] > 0, time of a rank for a weight of 1; the longest time is minimised; empty: all 1
Partition partition(std::span<const double> weights, int n_ranks, std::span<const double> slowness = {});

}  // namespace karst
