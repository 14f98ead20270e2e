// SPDX-License-Identifier: BSD-3-Clause
#include "grid/layout_builder.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/morton.hpp"
#include "grid/partition.hpp"

namespace karst {
namespace {

/// Walks the octree over the lattice in Morton order and lists the leaves whose number lies in [first, last).
struct LatticeWalk {
  Index size;
  std::int64_t first, last;
  std::vector<std::uint64_t> keys;
  std::int64_t passed = 0;

  void visit(const Index& corner, int width) {
    const std::int64_t n = intersect({corner, corner + Index::all(width)}, {Index{}, size}).count();
    if (n == 0 || passed >= last) return;
    if (passed + n <= first) {
      passed += n;
      return;
    }
    if (width == 1) {
      keys.push_back(morton_encode(corner));
      ++passed;
      return;
    }
    const int half = width / 2;
    for (int o = 0; o < 8; ++o) visit(corner + half * Index{o & 1, o >> 1 & 1, o >> 2}, half);
  }
};

/// Weights of the boxes that are there, by what they were classified as or are known to cost.
std::vector<double> weights_by(const BoxCosts& costs, int level, std::vector<double> classified) {
  if (costs.equal) std::ranges::fill(classified, 1.0);
  if (costs.cost.empty()) return classified;
  const std::size_t l = level;
  require(l < costs.cost.size() && costs.cost[l].size() == classified.size(),
          "grid: costs of other boxes are given; level {} has {} boxes", level, classified.size());
  return costs.cost[l];
}

/// Boxes to look at: those of this rank, and how many there are on all.
struct Candidates {
  std::span<const std::uint64_t> mine;
  std::int64_t all;
};

BuiltLayout classify_and_cut(const Comm& comm, const Domain& domain, int box_size, const Candidates& candidates,
                             const Classify& classify, const BoxCosts& costs, int level, const Prepare& prepare) {
  const std::span<const std::uint64_t> mine = candidates.mine;
  std::vector<double> weight(mine.size());
  std::vector<Box> cells(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Index lo = morton_decode(mine[i]) * box_size;
    cells[i] = intersect({lo, lo + Index::all(box_size)}, domain.box());
  }
  if (prepare) prepare(cells);
  parallel_for_dynamic(std::ssize(cells), [&](std::int64_t at) { weight[at] = classify(cells[at]); });
  std::vector<std::uint64_t> kept_keys;
  std::vector<double> kept_weights;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (weight[i] == 0.0) continue;
    kept_keys.push_back(mine[i]);
    kept_weights.push_back(weight[i]);
  }
  // The ranks' shares are increasing and disjoint, so the gathered keys are sorted.
  std::vector<std::uint64_t> keys = comm.all_gather<std::uint64_t>(kept_keys);
  const std::vector<double> weights = weights_by(costs, level, comm.all_gather<double>(kept_weights));
  Partition cut = partition(weights, costs.ranks > 0 ? costs.ranks : comm.size(), costs.slowness);
  BuiltLayout built;
  built.candidates = candidates.all;
  built.kept = static_cast<std::int64_t>(keys.size());
  built.imbalance = cut.imbalance;
  built.layout = Layout(domain, box_size, std::move(keys), std::move(cut.begin));
  return built;
}

void check_box_size(int box_size) {
  require(box_size == 8 || box_size == 16 || box_size == 32, "grid: the box size is {}; allowed are 8, 16 and 32",
          box_size);
}

}  // namespace

std::vector<std::uint64_t> lattice_keys(const Index& size, std::int64_t first, std::int64_t last) {
  int width = 1;
  while (width < std::max({size[0], size[1], size[2]})) width *= 2;
  LatticeWalk walk{size, first, last, {}};
  walk.keys.reserve(std::max<std::int64_t>(0, last - first));
  walk.visit(Index{}, width);
  return std::move(walk.keys);
}

BuiltLayout build_layout(const Comm& comm, const Domain& domain, int box_size, const Classify& classify,
                         const BoxCosts& costs, int level, const Prepare& prepare) {
  check_box_size(box_size);
  const Index size = Layout(domain, box_size, {}, {0, 0}).lattice_size();
  const std::int64_t n = std::int64_t{size[0]} * size[1] * size[2];
  const std::int64_t first = n / comm.size() * comm.rank() + n % comm.size() * comm.rank() / comm.size();
  const int next = comm.rank() + 1;
  const std::int64_t last = n / comm.size() * next + n % comm.size() * next / comm.size();
  return classify_and_cut(comm, domain, box_size, {lattice_keys(size, first, last), n}, classify, costs, level,
                          prepare);
}

BuiltLayout build_layout(const Comm& comm, const Domain& domain, int box_size,
                         std::span<const std::uint64_t> candidates, const Classify& classify, const BoxCosts& costs,
                         int level, const Prepare& prepare) {
  check_box_size(box_size);
  const std::size_t n = candidates.size(), ranks = comm.size();
  const std::size_t first = n * comm.rank() / ranks;
  const std::size_t last = n * (comm.rank() + 1) / ranks;
  return classify_and_cut(comm, domain, box_size,
                          {candidates.subspan(first, last - first), static_cast<std::int64_t>(n)}, classify, costs,
                          level, prepare);
}

}  // namespace karst
