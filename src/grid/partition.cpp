// SPDX-License-Identifier: BSD-3-Clause
#include "grid/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/error.hpp"

namespace karst {
namespace {

using Sums = std::vector<double>;  // n + 1 prefix sums

/// What is cut, and for whom.
struct Task {
  Sums sums;
  std::vector<double> slowness;  // per rank

  std::size_t n() const { return sums.size() - 1; }
  double time(std::size_t rank, std::size_t first, std::size_t last) const {
    return slowness[rank] * (sums[last] - sums[first]);
  }
  /// Last cut for which the rank takes at most `bound` from `first` on.
  std::size_t furthest(std::size_t rank, std::size_t first, double bound) const {
    const auto from = sums.begin() + first;
    const auto at =
        std::partition_point(from, sums.end(), [&](double s) { return slowness[rank] * (s - sums[first]) <= bound; });
    return at - sums.begin() - 1;
  }
};

struct Probe {
  bool fits;
  double used;  ///< longest time of the greedy fill
  double next;  ///< smallest bound that would change it
};

Probe greedy_fill(const Task& task, double bound) {
  Probe p{false, 0.0, std::numeric_limits<double>::infinity()};
  std::size_t at = 0;
  for (std::size_t r = 0; r < task.slowness.size() && at < task.n(); ++r) {
    const std::size_t end = task.furthest(r, at, bound);
    p.used = std::max(p.used, task.time(r, at, end));
    if (end < task.n()) p.next = std::min(p.next, task.time(r, at, end + 1));
    at = end;
  }
  p.fits = at == task.n();
  return p;
}

/// Σ 1 / slowness: what the ranks do in a time of 1.
double pace(const Task& task) {
  double sum = 0.0;
  for (const double s : task.slowness) sum += 1.0 / s;
  return sum;
}

double smallest_bound(const Task& task) {
  double low = task.sums.back() / pace(task) * (1.0 - 1e-12);                 // below the answer, or the answer itself
  double high = task.sums.back() * *std::ranges::min_element(task.slowness);  // the fastest rank has all
  while (low < high) {
    const double middle = std::min(low + (high - low) / 2, std::nextafter(high, 0.0));
    const Probe p = greedy_fill(task, middle);
    if (p.fits)
      high = p.used;
    else
      low = std::max(p.next, std::nextafter(middle, high));
  }
  return high;
}

Task make_task(std::span<const double> weights, int n_ranks, std::span<const double> slowness) {
  require(n_ranks >= 1, "partition: {} ranks; at least 1 is needed", n_ranks);
  Task task{Sums(weights.size() + 1, 0.0), {slowness.begin(), slowness.end()}};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require(weights[i] >= 0.0 && std::isfinite(weights[i]),
            "partition: weight {} of box {} is not allowed; weights are finite and not negative", weights[i], i);
    task.sums[i + 1] = task.sums[i] + weights[i];
  }
  if (slowness.empty()) task.slowness.assign(n_ranks, 1.0);
  require(std::ssize(task.slowness) == n_ranks, "partition: slowness of {} ranks given, there are {}",
          task.slowness.size(), n_ranks);
  for (const double s : task.slowness)
    require(s > 0.0 && std::isfinite(s), "partition: slowness {} is not allowed; it is finite and above 0", s);
  return task;
}

}  // namespace

Partition partition(std::span<const double> weights, int n_ranks, std::span<const double> slowness) {
  const Task task = make_task(weights, n_ranks, slowness);
  const std::size_t n = task.n();
  const Sums& sums = task.sums;
  Partition result;
  result.largest = smallest_bound(task);

  // first[r]: earliest begin of rank r that still lets ranks r.. hold the rest.
  const std::size_t ranks = n_ranks;
  std::vector<std::size_t> first(ranks + 1, n);
  for (std::size_t r = ranks; r-- > 0;) {
    const double end = sums[first[r + 1]];
    const auto at = std::partition_point(sums.begin(), sums.begin() + first[r + 1],
                                         [&](double s) { return task.slowness[r] * (end - s) > result.largest; });
    first[r] = at - sums.begin();
  }
  result.begin.assign(ranks + 1, 0);
  const double all = pace(task);
  double below = 0.0;  // pace of the lower ranks
  std::size_t at = 0;
  for (std::size_t r = 1; r < ranks; ++r) {
    below += 1.0 / task.slowness[r - 1];
    const double share = below / all;
    std::size_t wanted = std::llround(share * static_cast<double>(n));
    if (sums.back() > 0.0) {
      const double target = share * sums.back();
      wanted = std::lower_bound(sums.begin(), sums.end(), target) - sums.begin();
      if (wanted > 0 && (wanted > n || target - sums[wanted - 1] < sums[wanted] - target)) --wanted;
    }
    const std::size_t last = task.furthest(r - 1, at, result.largest);
    at = std::clamp(wanted, std::max(first[r], at), last);
    result.begin[r] = static_cast<std::int64_t>(at);
  }
  result.begin[ranks] = static_cast<std::int64_t>(n);
  if (sums.back() > 0.0) result.imbalance = result.largest * all / sums.back();
  return result;
}

}  // namespace karst
