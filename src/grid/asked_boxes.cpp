// SPDX-License-Identifier: BSD-3-Clause
#include "grid/asked_boxes.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "base/comm/parallel.hpp"
#include "grid/morton.hpp"

namespace karst {

namespace {

using Keys = std::vector<std::uint64_t>;

/// What each of these boxes adds to the unknowns, [level - 1][box]. Collective.
std::vector<std::vector<std::int64_t>> growth_of(const Comm& comm, const Layout& layout, const FluidOfBox& fluid_of,
                                                 const std::vector<Keys>& boxes) {
  const int width = layout.box_size();
  const auto [first, last] = layout.owned(comm.rank());
  std::vector<std::vector<std::int64_t>> growth;
  for (const Keys& keys : boxes) growth.emplace_back(keys.size(), 0);
  parallel_for_dynamic(last - first, [&, begin_of_rank = first](std::int64_t b) {
    const Box cells = layout.box(begin_of_rank + b);
    std::vector<std::int64_t> fluid;  // pieces per cell
    const std::uint64_t key = layout.keys()[begin_of_rank + b];
    for (std::size_t l = 0; l < boxes.size(); ++l) {
      const int level = static_cast<int>(l) + 1;
      const Keys& keys = boxes[l];
      const auto begin = std::ranges::lower_bound(keys, key << (3 * level)),
                 end = std::ranges::lower_bound(keys, (key + 1) << (3 * level));
      for (auto k = begin; k != end; ++k) {
        if (fluid.empty()) {
          fluid.assign(cells.count(), 0);
          for (const std::uint16_t cell : fluid_of(static_cast<int>(b))) ++fluid[cell];
        }
        const int covered = std::max(1, width >> level);  // cells of level 0 along its edge, or the one that it is in
        const Index position = morton_decode(*k);
        Box under;
        for (int d = 0; d < 3; ++d) under.lo[d] = static_cast<int>((std::int64_t{position[d]} * width) >> level);
        under.hi = under.lo + Index::all(covered);
        std::int64_t pieces = 0;
        for_each_cell(intersect(under, cells), [&](const Index& c) { pieces += fluid[cells.offset(c)]; });
        const std::int64_t each = std::int64_t{width} * width * width / (std::int64_t{covered} * covered * covered);
        growth[l][k - keys.begin()] = pieces * (each - each / 8);
      }
    }
  });
  for (std::vector<std::int64_t>& of_level : growth) comm.sum(std::span(of_level));
  return growth;
}

struct Candidate {
  double strength;
  std::size_t level;  ///< - 1
  std::uint64_t key;
};

/// Boxes that are in, and what more of them cost.
class Selection {
 public:
  Selection(const Layout& level0, const FlaggedBoxes& base, std::size_t n_levels)
      : box_size_(level0.box_size()), in_(n_levels) {
    Domain finer = level0.domain();
    for (std::size_t l = 0; l < n_levels; ++l) {
      finer = finer.refined();
      domains_.push_back(finer);
      if (l < base.size()) in_[l].insert(base[l].begin(), base[l].end());
    }
  }
  bool has(std::size_t level, std::uint64_t key) const { return in_[level].contains(key); }
  /// The box and those that nesting needs, which are not in. [level - 1]
  std::vector<Keys> needed(std::size_t level, std::uint64_t key) const {
    std::vector<Keys> needed(level + 1);
    needed[level] = {key};
    for (std::size_t l = level; l > 0; --l) {
      needed[l - 1] = boxes_below(domains_[l], box_size_, needed[l]);
      std::erase_if(needed[l - 1], [&](std::uint64_t k) { return has(l - 1, k); });
    }
    return needed;
  }
  void add(const std::vector<Keys>& boxes) {
    for (std::size_t l = 0; l < boxes.size(); ++l) in_[l].insert(boxes[l].begin(), boxes[l].end());
  }

 private:
  int box_size_;
  std::vector<Domain> domains_;
  std::vector<std::unordered_set<std::uint64_t>> in_;
};

/// All boxes that any of the asked ones needs. [level - 1]
std::vector<Keys> with_needed(const Selection& selection, const AskedBoxes& asked) {
  std::vector<Keys> all(asked.size());
  for (std::size_t l = 0; l < asked.size(); ++l)
    for (const AskedBox& box : asked[l]) {
      if (selection.has(l, box.key)) continue;
      const std::vector<Keys> needed = selection.needed(l, box.key);
      for (std::size_t k = 0; k <= l; ++k) all[k].insert(all[k].end(), needed[k].begin(), needed[k].end());
    }
  for (Keys& keys : all) {
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
  }
  return all;
}

std::vector<Candidate> in_order_of_strength(const AskedBoxes& asked, const FlaggedBoxes& now) {
  std::vector<Candidate> all;
  for (std::size_t l = 0; l < asked.size(); ++l)
    for (const AskedBox& box : asked[l]) {
      const bool is_there = l < now.size() && std::ranges::binary_search(now[l], box.key);
      all.push_back({box.strength * (is_there ? stays : 1.0), l, box.key});
    }
  std::ranges::sort(all, {}, [](const Candidate& c) { return std::tuple(-c.strength, c.level, c.key); });
  return all;
}

}  // namespace

void sort_unique(std::vector<AskedBox>& boxes) {
  std::ranges::sort(boxes, {}, [](const AskedBox& b) { return std::pair(b.key, -b.strength); });
  boxes.erase(std::ranges::unique(boxes, {}, &AskedBox::key).begin(), boxes.end());
}

AskedBoxes gather(const Comm& comm, AskedBoxes boxes) {
  const std::int64_t levels = comm.max(std::ssize(boxes));
  boxes.resize(levels);
  for (std::vector<AskedBox>& level : boxes) level = comm.all_gather<AskedBox>(level);
  return with_holders(std::move(boxes));
}

AskedBoxes with_holders(AskedBoxes boxes) {
  for (std::size_t l = boxes.size(); l-- > 0;) {
    if (l + 1 < boxes.size())
      for (const AskedBox& finer : boxes[l + 1]) boxes[l].push_back({finer.key >> 3, finer.strength});
    sort_unique(boxes[l]);
  }
  return boxes;
}

FlaggedBoxes keys_of(const AskedBoxes& boxes) {
  FlaggedBoxes keys(boxes.size());
  for (std::size_t l = 0; l < boxes.size(); ++l)
    for (const AskedBox& box : boxes[l]) keys[l].push_back(box.key);
  return keys;
}

LimitedBoxes within_limit(const Comm& comm, const Layout& level0, const FluidOfBox& fluid, const BaseGrid& base,
                          const AskedBoxes& asked, const FlaggedBoxes& now, std::int64_t max_cells) {
  Selection selection(level0, base.boxes, asked.size());
  const std::vector<Keys> all = with_needed(selection, asked);
  const std::vector<std::vector<std::int64_t>> growth = growth_of(comm, level0, fluid, all);
  std::int64_t unknowns = base.unknowns;
  LimitedBoxes limited;
  for (const Candidate& box : in_order_of_strength(asked, now)) {
    if (selection.has(box.level, box.key)) continue;
    const std::vector<Keys> needed = selection.needed(box.level, box.key);
    std::int64_t more = 0;
    for (std::size_t l = 0; l < needed.size(); ++l)
      for (const std::uint64_t key : needed[l])
        more += growth[l][std::ranges::lower_bound(all[l], key) - all[l].begin()];
    if (more > max_cells - unknowns) {
      ++limited.left_out;
      continue;
    }
    unknowns += more;
    selection.add(needed);
  }
  limited.boxes = keys_of(asked);
  for (std::size_t l = 0; l < asked.size(); ++l)
    std::erase_if(limited.boxes[l], [&](std::uint64_t key) { return !selection.has(l, key); });
  return limited;
}

}  // namespace karst
