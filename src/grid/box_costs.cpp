// SPDX-License-Identifier: BSD-3-Clause
#include "grid/box_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace karst {

namespace {

constexpr int most_rounds = 50;
constexpr double still = 1e-6;  ///< change of a slowness in a round

/// Amounts and times of all ranks.
struct Table {
  std::size_t n_kinds, n_ranks;
  std::vector<double> amount, seconds;  // [rank][kind]

  std::size_t at(std::size_t rank, std::size_t kind) const { return rank * n_kinds + kind; }
};

Table gather(const Comm& comm, const RankWork& work) {
  RankWork own = work;
  for (std::size_t k = 0; k < own.amount.size(); ++k)
    if (!(own.amount[k] > 0.0)) own.seconds[k] = 0.0;  // what no box of the rank explains does not move with boxes
  return {own.amount.size(), static_cast<std::size_t>(comm.size()), comm.all_gather<double>(own.amount),
          comm.all_gather<double>(own.seconds)};
}

/// c_k for these s_r: Σ_r t_kr / s_r over Σ_r a_kr.
std::vector<double> costs_of(const Table& table, const std::vector<double>& slowness) {
  std::vector<double> cost(table.n_kinds, 0.0);
  for (std::size_t k = 0; k < table.n_kinds; ++k) {
    double time = 0.0, amount = 0.0;
    for (std::size_t r = 0; r < table.n_ranks; ++r) {
      time += table.seconds[table.at(r, k)] / slowness[r];
      amount += table.amount[table.at(r, k)];
    }
    if (amount > 0.0) cost[k] = time / amount;
  }
  return cost;
}

/// s_r for these c_k: Σ_k t_kr over Σ_k c_k a_kr, and Σ 1 / s_r = number of ranks.
std::vector<double> slowness_of(const Table& table, const std::vector<double>& cost) {
  std::vector<double> slowness(table.n_ranks, 1.0);
  double pace = 0.0;
  for (std::size_t r = 0; r < table.n_ranks; ++r) {
    double time = 0.0, usual = 0.0;
    for (std::size_t k = 0; k < table.n_kinds; ++k) {
      time += table.seconds[table.at(r, k)];
      usual += cost[k] * table.amount[table.at(r, k)];
    }
    if (time > 0.0 && usual > 0.0) slowness[r] = time / usual;
    pace += 1.0 / slowness[r];
  }
  for (double& s : slowness) s *= pace / static_cast<double>(table.n_ranks);
  return slowness;
}

}  // namespace

void add_steps(RankWork& work, std::span<const BoxWork> kinds, int steps, double kept) {
  work.amount.resize(kinds.size(), 0.0);
  work.seconds.resize(kinds.size(), 0.0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    double of_step = 0.0;
    for (const auto& level : kinds[k].amount)
      for (const double a : level) of_step += a;
    work.amount[k] = kept * work.amount[k] + steps * of_step;
    work.seconds[k] = kept * work.seconds[k] + kinds[k].seconds;
  }
}

BoxCosts measured_costs(const Comm& comm, std::span<const Layout* const> layouts, std::span<const BoxWork> kinds,
                        const RankWork& work) {
  const Table table = gather(comm, work);
  BoxCosts costs;
  costs.slowness.assign(table.n_ranks, 1.0);
  std::vector<double> cost = costs_of(table, costs.slowness);
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<double> next = slowness_of(table, cost);
    double change = 0.0;
    for (std::size_t r = 0; r < next.size(); ++r)
      change = std::max(change, std::abs(next[r] / costs.slowness[r] - 1.0));
    costs.slowness = next;
    cost = costs_of(table, next);
    if (change < still) break;
  }
  for (std::size_t l = 0; l < layouts.size(); ++l) {
    const auto [first, last] = layouts[l]->owned(comm.rank());
    std::vector<double> own(last - first, 0.0);
    for (std::size_t k = 0; k < kinds.size(); ++k)
      for (std::size_t b = 0; b < own.size(); ++b) own[b] += cost[k] * kinds[k].amount[l][b];
    costs.cost.push_back(comm.all_gather<double>(own));  // ranks own stretches of the boxes, in order
  }
  return costs;
}

std::vector<double> rank_times(const BoxCosts& costs, std::span<const std::vector<std::int64_t>> begin) {
  std::vector<double> times(costs.slowness.size(), 0.0);
  for (std::size_t l = 0; l < begin.size(); ++l)
    for (std::size_t r = 0; r < times.size(); ++r)
      for (std::int64_t b = begin[l][r]; b < begin[l][r + 1]; ++b) times[r] += costs.slowness[r] * costs.cost[l][b];
  return times;
}

double imbalance_of(std::span<const double> times) {
  double longest = 0.0, sum = 0.0;
  for (const double t : times) {
    longest = std::max(longest, t);
    sum += t;
  }
  return sum > 0.0 ? longest * static_cast<double>(times.size()) / sum : 1.0;
}

}  // namespace karst
