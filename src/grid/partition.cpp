// SPDX-License-Identifier: BSD-3-Clause
#include "grid/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace karst {
namespace {

using Sums = std::vector<double>;  // n + 1 prefix sums

/// Last cut whose interval from `first` weighs at most `bound`.
std::size_t furthest(const Sums& sums, std::size_t first, double bound) {
  const auto from = sums.begin() + static_cast<std::ptrdiff_t>(first);
  const auto at = std::partition_point(from, sums.end(), [&](double s) { return s - sums[first] <= bound; });
  return static_cast<std::size_t>(at - sums.begin()) - 1;
}

struct Probe {
  bool fits;
  double used;  ///< heaviest interval of the greedy fill
  double next;  ///< smallest bound that would change it
};

Probe greedy_fill(const Sums& sums, int n_ranks, double bound) {
  const std::size_t n = sums.size() - 1;
  Probe p{false, 0.0, std::numeric_limits<double>::infinity()};
  std::size_t at = 0;
  for (int r = 0; r < n_ranks && at < n; ++r) {
    const std::size_t end = furthest(sums, at, bound);
    p.used = std::max(p.used, sums[end] - sums[at]);
    if (end < n) p.next = std::min(p.next, sums[end + 1] - sums[at]);
    at = end;
  }
  p.fits = at == n;
  return p;
}

double smallest_bound(const Sums& sums, int n_ranks) {
  double low = sums.back() / n_ranks * (1.0 - 1e-12);  // below the answer, or the answer itself
  double high = sums.back();
  while (low < high) {
    const double middle = std::min(low + (high - low) / 2, std::nextafter(high, 0.0));
    const Probe p = greedy_fill(sums, n_ranks, middle);
    if (p.fits)
      high = p.used;
    else
      low = std::max(p.next, std::nextafter(middle, high));
  }
  return high;
}

}  // namespace

Partition partition(std::span<const double> weights, int n_ranks) {
  require(n_ranks >= 1, "partition: {} ranks; at least 1 is needed", n_ranks);
  const std::size_t n = weights.size();
  Sums sums(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    require(weights[i] >= 0.0 && std::isfinite(weights[i]),
            "partition: weight {} of box {} is not allowed; weights are finite and not negative", weights[i], i);
    sums[i + 1] = sums[i] + weights[i];
  }
  Partition result;
  result.largest = smallest_bound(sums, n_ranks);

  // first[r]: earliest begin of rank r that still lets ranks r.. hold the rest.
  const auto ranks = static_cast<std::size_t>(n_ranks);
  std::vector<std::size_t> first(ranks + 1, n);
  for (std::size_t r = ranks; r-- > 0;) {
    const double end = sums[first[r + 1]];
    const auto at = std::partition_point(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(first[r + 1]),
                                         [&](double s) { return end - s > result.largest; });
    first[r] = static_cast<std::size_t>(at - sums.begin());
  }
  result.begin.assign(ranks + 1, 0);
  std::size_t at = 0;
  for (std::size_t r = 1; r < ranks; ++r) {
    const double share = static_cast<double>(r) / n_ranks;
    std::size_t wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(n)));
    if (sums.back() > 0.0) {
      const double target = share * sums.back();
      wanted = static_cast<std::size_t>(std::lower_bound(sums.begin(), sums.end(), target) - sums.begin());
      if (wanted > 0 && (wanted > n || target - sums[wanted - 1] < sums[wanted] - target)) --wanted;
    }
    const std::size_t last = furthest(sums, at, result.largest);
    at = std::clamp(wanted, std::max(first[r], at), last);
    result.begin[r] = static_cast<std::int64_t>(at);
  }
  result.begin[ranks] = static_cast<std::int64_t>(n);
  if (sums.back() > 0.0) result.imbalance = result.largest * n_ranks / sums.back();
  return result;
}

}  // namespace karst
