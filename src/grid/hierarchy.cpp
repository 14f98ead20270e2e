// SPDX-License-Identifier: BSD-3-Clause
#include "grid/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/morton.hpp"

namespace karst {
namespace {

using Keys = std::vector<std::uint64_t>;

constexpr Index octant_step(int o) { return {o & 1, o >> 1 & 1, o >> 2}; }

void sort_unique(Keys& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// Octants to be refined of the boxes of a level, as keys of the next level. Collective.
Keys refined_octants(const Comm& comm, const Domain& domain, int box_size, int level, const Keys& boxes,
                     const Refine& refine, const PrepareOnLevel& prepare) {
  const std::size_t n = boxes.size(), ranks = comm.size();
  const std::size_t first = n * comm.rank() / ranks;
  const std::size_t last = n * (comm.rank() + 1) / ranks;
  std::vector<std::uint8_t> mask(last - first, 0);
  if (prepare) {
    std::vector<Box> cells;
    for (std::size_t i = first; i < last; ++i) {
      const Index corner = morton_decode(boxes[i]) * box_size;
      cells.push_back(intersect({corner, corner + Index::all(box_size)}, domain.box()));
    }
    prepare(level, cells);
  }
  parallel_for_dynamic(std::ssize(mask), [&](std::int64_t i) {
    const Index corner = morton_decode(boxes[first + i]) * box_size;
    for (int o = 0; o < 8; ++o) {
      const Index lo = corner + octant_step(o) * (box_size / 2);
      const Box octant = intersect({lo, lo + Index::all(box_size / 2)}, domain.box());
      if (!octant.empty() && refine(level, octant)) mask[i] |= static_cast<std::uint8_t>(1 << o);
    }
  });
  Keys mine;
  for (std::size_t i = 0; i < mask.size(); ++i)
    for (unsigned o = 0; o < 8; ++o)
      if (mask[i] >> o & 1) mine.push_back(boxes[first + i] << 3 | o);
  return comm.all_gather<std::uint64_t>(mine);
}

/// Octants of each box of the layout that are in the sorted list of finer boxes.
std::vector<std::uint8_t> octant_masks(const Layout& layout, const Keys& finer) {
  std::vector<std::uint8_t> mask(layout.n_boxes(), 0);
  std::size_t b = 0;
  for (const std::uint64_t key : finer) {
    while (b < mask.size() && layout.keys()[b] < key >> 3) ++b;
    if (b < mask.size() && layout.keys()[b] == key >> 3) mask[b] |= static_cast<std::uint8_t>(1 << (key & 7));
  }
  return mask;
}

/// The two boxes have a cell in common, also through periodic sides.
bool meet(const Domain& domain, const Box& a, const Box& b) {
  for (int d = 0; d < 3; ++d) {
    const int n = domain.cells[d];
    if (!domain.periodic[d]) {
      if (a.lo[d] >= b.hi[d] || b.lo[d] >= a.hi[d]) return false;
      continue;
    }
    // Some k with a.lo + k n < b.hi and b.lo < a.hi + k n.
    const std::int64_t low = std::int64_t{b.lo[d]} - a.hi[d];
    const std::int64_t k = (low >= 0 ? low / n : -((-low + n - 1) / n)) + 1;
    if (a.lo[d] + k * n >= b.hi[d]) return false;
  }
  return true;
}

/// Cut off where the domain ends, free to reach across periodic sides.
Box inside_or_periodic(Box cells, const Domain& domain) {
  for (int d = 0; d < 3; ++d) {
    if (domain.periodic[d]) continue;
    cells.lo[d] = std::max(cells.lo[d], 0);
    cells.hi[d] = std::min(cells.hi[d], domain.cells[d]);
  }
  return cells;
}

bool is_flagged(const GridOptions& grid, int level, const Box& octant) {
  if (!grid.flagged || level >= std::ssize(*grid.flagged)) return false;
  const int half = grid.box / 2;
  const Index finer{octant.lo[0] / half, octant.lo[1] / half, octant.lo[2] / half};
  return std::ranges::binary_search((*grid.flagged)[level], morton_encode(finer));
}

}  // namespace

std::vector<std::uint64_t> boxes_over(const Domain& finer_domain, int box_size, Box cells) {
  const Index size = lattice_size(finer_domain, box_size);
  Box places;
  for (int d = 0; d < 3; ++d) {
    if (!finer_domain.periodic[d]) {
      cells.lo[d] = std::max(cells.lo[d], 0);
      cells.hi[d] = std::min(cells.hi[d], finer_domain.cells[d] / 2);
    }
    const auto place = [&](int cell) { return static_cast<int>(std::floor(2.0 * cell / box_size)); };
    places.lo[d] = place(cells.lo[d]);
    places.hi[d] = std::min(place(cells.hi[d] - 1) + 1, places.lo[d] + size[d]);
  }
  Keys keys;
  for_each_cell(places, [&](Index at) {
    for (int d = 0; d < 3; ++d) at[d] = ((at[d] % size[d]) + size[d]) % size[d];
    keys.push_back(morton_encode(at));
  });
  return keys;
}

std::vector<std::uint64_t> boxes_below(const Domain& finer_domain, int box_size, std::span<const std::uint64_t> finer) {
  const Index size = lattice_size(finer_domain, box_size);
  Keys needed;
  for (const std::uint64_t key : finer) {
    const Index at = morton_decode(key);
    for_each_cell({at - Index::all(1), at + Index::all(2)}, [&](Index p) {
      for (int d = 0; d < 3; ++d) {
        if (p[d] >= 0 && p[d] < size[d]) continue;
        if (!finer_domain.periodic[d]) return;
        p[d] = (p[d] + size[d]) % size[d];
      }
      const std::uint64_t parent = morton_encode(p) >> 3;
      if (needed.empty() || needed.back() != parent) needed.push_back(parent);
    });
  }
  sort_unique(needed);
  return needed;
}

Domain domain_on_level(Domain domain, int level) {
  for (; level > 0; --level) domain = domain.refined();
  return domain;
}

Box region_cells(const GridOptions& grid, const Refinement& r, int level) {
  const double h = std::ldexp(grid.cell_width(), -level);
  Box cells;
  for (int d = 0; d < 3; ++d) {
    constexpr double most = 1e9;  // far outside of any domain
    cells.lo[d] = static_cast<int>(std::clamp(std::floor(r.lo[d] / h + 1e-9), -most, most));
    cells.hi[d] = static_cast<int>(std::clamp(std::ceil(r.hi[d] / h - 1e-9), -most, most));
  }
  return cells;
}

bool GridHierarchy::is_refined(int level, const Index& finer_position) const {
  const GridLevel& l = levels[level];
  if (l.refined.empty()) return false;
  const Domain finer = l.layout.domain().refined();
  const Index size = lattice_size(finer, l.layout.box_size());
  Index p = finer_position;
  for (int d = 0; d < 3; ++d) {
    if (p[d] >= 0 && p[d] < size[d]) continue;
    if (!finer.periodic[d]) return false;
    p[d] = (p[d] % size[d] + size[d]) % size[d];
  }
  const std::int64_t box = l.layout.find({p[0] / 2, p[1] / 2, p[2] / 2});
  const int octant = p[0] % 2 + 2 * (p[1] % 2) + 4 * (p[2] % 2);
  return box >= 0 && (l.refined[box] >> octant & 1) != 0;
}

bool GridHierarchy::cell_is_refined(int level, const Index& cell) const {
  const GridLevel& l = levels[level];
  if (l.refined.empty()) return false;
  const std::int64_t box = l.layout.find_cell(cell);
  if (box < 0) return false;
  int octant = 0;
  const Index lo = l.layout.box(box).lo;
  for (int d = 0; d < 3; ++d) {
    const int n = l.layout.domain().cells[d];
    const int c = l.layout.domain().periodic[d] ? (cell[d] % n + n) % n : cell[d];
    if (c - lo[d] >= l.layout.box_size() / 2) octant |= 1 << d;
  }
  return (l.refined[box] >> octant & 1) != 0;
}

FlaggedBoxes refined_boxes(const GridHierarchy& grid) {
  FlaggedBoxes boxes;
  for (const GridLevel& level : grid.levels) {
    if (level.refined.empty()) break;
    Keys& keys = boxes.emplace_back();
    for (std::size_t b = 0; b < level.refined.size(); ++b)
      for (unsigned o = 0; o < 8; ++o)
        if (level.refined[b] >> o & 1) keys.push_back(level.layout.keys()[b] << 3 | o);
  }
  return boxes;
}

GridHierarchy build_hierarchy(const Comm& comm, const Domain& domain, int box_size, int n_levels, const Refine& refine,
                              const ClassifyOnLevel& classify, const BoxCosts& costs, const PrepareOnLevel& prepare) {
  require(n_levels >= 1, "grid: {} levels; at least 1 is needed", n_levels);
  GridHierarchy grid;
  const auto prepare_on = [&](int level) -> Prepare {
    if (!prepare) return {};
    return [&prepare, level](std::span<const Box> cells) { prepare(level, cells); };
  };
  std::vector<Keys> region;  // of each level, boxes without fluid included; of level 0 only those with fluid
  for (int level = 0; level < n_levels; ++level) {
    BuiltLayout built;
    if (level == 0) {
      built = build_layout(
          comm, domain, box_size, [&](const Box& cells) { return classify(0, cells); }, costs, 0, prepare_on(0));
      region.push_back(built.layout.keys());
      grid.levels.push_back({std::move(built.layout), built.candidates, built.imbalance, {}});
      continue;
    }
    Keys next =
        refined_octants(comm, domain_on_level(domain, level - 1), box_size, level - 1, region.back(), refine, prepare);
    if (next.empty()) break;
    region.push_back(std::move(next));
  }
  for (std::size_t level = region.size() - 1; level > 1; --level) {
    const Keys below = boxes_below(domain_on_level(domain, static_cast<int>(level)), box_size, region[level]);
    region[level - 1].insert(region[level - 1].end(), below.begin(), below.end());
    sort_unique(region[level - 1]);
  }
  for (std::size_t l = 1; l < region.size(); ++l) {
    const int level = static_cast<int>(l);
    BuiltLayout built = build_layout(
        comm, domain_on_level(domain, level), box_size, region[l],
        [&](const Box& cells) { return classify(level, cells); }, costs, level, prepare_on(level));
    grid.levels[l - 1].refined = octant_masks(grid.levels[l - 1].layout, region[l]);
    grid.levels.push_back({std::move(built.layout), built.candidates, built.imbalance, {}});
  }
  return grid;
}

bool is_refined(const GridOptions& grid, int level, const Box& octant, const HoldsWall& holds_wall,
                const HoldsThroat& holds_throat) {
  const Domain domain = domain_on_level(grid.domain(), level);
  return std::any_of(grid.refine.begin(), grid.refine.end(), [&](const Refinement& r) {
    if (r.level <= level) return false;
    if (r.follows()) return !grid.flagged;
    const Box cells = octant.grown(r.buffer);
    if (r.where == Refinement::Where::region) return meet(domain, cells, region_cells(grid, r, level));
    if (r.where == Refinement::Where::throat) return holds_throat(r, level, octant);
    return holds_wall(level, inside_or_periodic(cells, domain));
  });
}

GridHierarchy build_hierarchy(const Comm& comm, const GridOptions& grid, const HoldsWall& holds_wall,
                              const ClassifyOnLevel& classify, const BoxCosts& costs, const PrepareOnLevel& prepare,
                              const HoldsThroat& holds_throat) {
  const auto refine = [&](int level, const Box& octant) {
    return is_flagged(grid, level, octant) || is_refined(grid, level, octant, holds_wall, holds_throat);
  };
  GridHierarchy built = build_hierarchy(comm, grid.domain(), grid.box, grid.levels, refine, classify, costs, prepare);
  built.flagged = grid.flagged;
  return built;
}

}  // namespace karst
