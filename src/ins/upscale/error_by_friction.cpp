// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/error_by_friction.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/math/no_number.hpp"
#include "grid/asked_boxes.hpp"
#include "grid/morton.hpp"

namespace karst {

namespace {

constexpr double most_gain = 0.9;         ///< of what refining all cells gains: the rest costs most of the cells
constexpr double safety_of_change = 1.5;  ///< of an error from one change
constexpr double least_part = 1.0 / 3.0;  ///< of what the error before comes to on a grid
constexpr double least_change = 0.02;     ///< of M, for a change of K to say something

}  // namespace

std::vector<OctantShare> octant_shares(const Comm& comm, std::span<const FlowColumn> columns) {
  std::vector<OctantShare> mine;
  for (const FlowColumn& column : columns)
    for (const OctantFriction& o : column.friction) {
      OctantShare one{o.level, o.key, o.cells, {}};
      one.share[column.axis] = o.friction;
      mine.push_back(one);
    }
  std::vector<OctantShare> all = comm.all_gather<OctantShare>(mine);
  std::ranges::sort(all, {}, [](const OctantShare& o) { return std::tuple(o.level, o.key); });
  std::vector<OctantShare> merged;
  Vec3 sum;
  for (const OctantShare& o : all) {
    if (merged.empty() || merged.back().level != o.level || merged.back().key != o.key)
      merged.push_back({o.level, o.key, o.cells, {}});
    for (int a = 0; a < 3; ++a) {
      merged.back().share[a] += o.share[a];
      sum[a] += o.share[a];
    }
  }
  for (OctantShare& o : merged)
    for (int a = 0; a < 3; ++a) o.share[a] = sum[a] > 0.0 ? o.share[a] / sum[a] : 0.0;
  return merged;
}

Vec3 error_weight(std::span<const OctantShare> octants, const LevelWeights& weights) {
  Vec3 sum;
  for (const OctantShare& o : octants)
    for (int a = 0; a < 3; ++a) sum[a] += o.share[a] * weights.of(o.level);
  return sum;
}

namespace {

/// Octants by place: refined, or to be refined.
class Lattice {
 public:
  Lattice(const GridOptions& grid, const FlaggedBoxes& boxes) : box_(grid.box) {
    for (Domain domain = grid.domain(); domains_.size() < most_levels; domain = domain.refined())
      domains_.push_back(domain);
    for (std::size_t l = 0; l < boxes.size(); ++l)
      for (const std::uint64_t key : boxes[l]) refined_.insert({l, key});
  }
  AskedBoxes boxes() const {
    AskedBoxes all;
    for (const auto& [level, key] : refined_) {
      if (all.size() <= level) all.resize(level + 1);
      all[level].push_back({key, 1.0});
    }
    return all;
  }
  bool is_refined(const OctantShare& o) const { return refined_.contains({o.level, o.key}); }
  void refine(const OctantShare& o) { refined_.insert({o.level, o.key}); }
  /// Of the six neighbours across faces.
  int n_refined_around(const OctantShare& o) const {
    const Domain& domain = domains_[o.level + 1];
    const Index size = lattice_size(domain, box_), at = morton_decode(o.key);
    int n = 0;
    for (int side = 0; side < 6; ++side) {
      const int d = side / 2;
      Index beside = at;
      beside[d] += side % 2 == 0 ? -1 : 1;
      if (domain.periodic[d]) beside[d] = (beside[d] + size[d]) % size[d];
      if (beside[d] >= 0 && beside[d] < size[d]) n += refined_.contains({o.level, morton_encode(beside)}) ? 1 : 0;
    }
    return n;
  }

 private:
  static constexpr std::size_t most_levels = 12;
  int box_;
  std::vector<Domain> domains_;
  std::set<std::pair<std::size_t, std::uint64_t>> refined_;
};

/// Cells that may still be added, and that were.
struct Budget {
  double cells = 0.0, most = 0.0;
  bool refused = false;
  bool take(const OctantShare& o) {
    const double more = 7.0 * static_cast<double>(o.cells);
    refused = refused || cells + more > most;
    if (refused) return false;
    cells += more;
    return true;
  }
};

/// Those that gain most of M along an axis first, until M is no more than the goal. Returns whether it is.
bool refine_for(int axis, double goal, std::span<const OctantShare> octants, const LevelWeights& weights, int finest,
                Budget& budget, Lattice& lattice) {
  const auto gain = [&](const OctantShare* o) { return o->share[axis] * weights.gain(o->level); };
  std::vector<const OctantShare*> order;
  double possible = 0.0;
  for (const OctantShare& o : octants)
    if (o.level < finest && o.share[axis] > 0.0) {
      order.push_back(&o);
      possible += gain(&o);
    }
  std::ranges::stable_sort(order, std::ranges::greater(), gain);
  double left = error_weight(octants, weights)[axis];
  const double until = std::max(goal, left - most_gain * possible);
  for (const OctantShare* o : order) {
    if (left <= until) break;
    if (!lattice.is_refined(*o)) {
      if (!budget.take(*o)) break;
      lattice.refine(*o);
    }
    left -= gain(o);
  }
  return left <= goal;
}

/// Octants between refined ones: a step between levels costs accuracy where it crosses walls, and they are many steps.
void fill_gaps(std::span<const OctantShare> octants, int finest, Budget& budget, Lattice& lattice) {
  constexpr int passes = 2, enclosed = 3;
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<const OctantShare*> found;
    for (const OctantShare& o : octants)
      if (o.level < finest && !lattice.is_refined(o) && lattice.n_refined_around(o) >= enclosed) found.push_back(&o);
    for (const OctantShare* o : found)
      if (budget.take(*o)) lattice.refine(*o);
  }
}

}  // namespace

FinerGrid finer_grid(const GridOptions& grid, std::span<const OctantShare> octants, const LevelWeights& weights,
                     const FlaggedBoxes& now, const Vec3& goal, int finest, double most) {
  Lattice lattice(grid, now);
  Budget budget{.most = most};
  for (const OctantShare& o : octants) budget.cells += static_cast<double>(o.cells);
  FinerGrid finer;
  for (int a = 0; a < 3; ++a) {
    const bool reached = refine_for(a, goal[a], octants, weights, finest, budget, lattice);
    finer.enough = finer.enough && reached;
  }
  fill_gaps(octants, finest, budget, lattice);
  finer.boxes = keys_of(with_holders(lattice.boxes()));
  finer.cells = budget.cells;
  finer.out_of_cells = budget.refused;
  return finer;
}

void estimate_from_change(const ErrorOnGrid& before, ErrorOnGrid& now) {
  now.extrapolated.reset();
  now.error = no_number;
  const double less = before.weight - now.weight;
  if (!(less > least_change * before.weight)) return;
  const double slope = (now.permeability - before.permeability) / less;  // dK / d(-M)
  now.extrapolated = now.permeability + slope * now.weight;
  now.error = safety_of_change * std::abs(slope * now.weight / now.permeability);
  const double as_before = before.error * now.weight / before.weight;
  if (std::isfinite(as_before)) now.error = std::max(now.error, least_part * as_before);
}

}  // namespace karst
