// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_reduction.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "grid/bytes.hpp"

namespace karst {

namespace {

/// Boxes of each level that are in a region.
struct Held {
  std::vector<Layout> layouts;
  std::vector<std::vector<std::int64_t>> own;  ///< counted from 0 among the own boxes of all
};

/// @param places  on the lattice of boxes
void hold_within(const Layout& all, int rank, const Box& places, Held& held) {
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> begin{0}, own;
  for (int r = 0; r < all.n_ranks(); ++r) {
    const auto [first, last] = all.owned(r);
    for (std::int64_t b = first; b < last; ++b) {
      if (!places.contains(all.lattice_position(b))) continue;
      keys.push_back(all.keys()[b]);
      if (r == rank) own.push_back(b - first);
    }
    begin.push_back(std::ssize(keys));
  }
  held.layouts.emplace_back(all.domain(), all.box_size(), std::move(keys), std::move(begin));
  held.own.push_back(std::move(own));
}

void point_to(const std::vector<Layout>& layouts, PlotDescription& plot) {
  plot.levels.clear();
  for (const Layout& layout : layouts) plot.levels.push_back(&layout);
}

}  // namespace

PlotDescription plot_within(const PlotDescription& plot, int rank, const Box& region) {
  auto held = std::make_shared<Held>();
  held->layouts.reserve(plot.levels.size());
  for (std::size_t l = 0; l < plot.levels.size(); ++l) {
    const int width = plot.levels[0]->box_size(), finer = 1 << l;
    Box places;
    for (int d = 0; d < 3; ++d) {
      assert(region.lo[d] % width == 0);
      places.lo[d] = region.lo[d] / width * finer;
      places.hi[d] = (region.hi[d] + width - 1) / width * finer;
    }
    hold_within(*plot.levels[l], rank, places, *held);
    if (l > 0 && held->layouts.back().n_boxes() == 0) {
      held->layouts.pop_back();
      break;
    }
  }
  PlotDescription part = plot;
  part.region = region;
  point_to(held->layouts, part);
  part.fill = [held, all = plot.fill](int level, std::int64_t box, int component, std::span<float> cells) {
    all(level, held->own[level][box], component, cells);
  };
  part.hide = [held, all = plot.hide](int level, std::int64_t box, std::span<std::uint8_t> cells) {
    all(level, held->own[level][box], cells);
  };
  return part;
}

namespace {

/// Boxes of 2^shift x 2^shift x 2^shift boxes each, which has the first of them that there is: they are neighbours in
/// the order of keys.
Layout merged(const Layout& fine, int shift) {
  Domain domain = fine.domain();
  for (int d = 0; d < 3; ++d) domain.cells[d] >>= shift;
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> first;
  for (std::int64_t b = 0; b < fine.n_boxes(); ++b) {
    const std::uint64_t key = fine.keys()[b] >> (3 * shift);
    if (!keys.empty() && keys.back() == key) continue;
    keys.push_back(key);
    first.push_back(b);
  }
  std::vector<std::int64_t> begin;
  for (int r = 0; r < fine.n_ranks(); ++r)
    begin.push_back(std::ranges::lower_bound(first, fine.owned(r).first) - first.begin());
  begin.push_back(std::ssize(keys));
  return {domain, fine.box_size(), std::move(keys), std::move(begin)};
}

/// Values of the own boxes of a level of the file, box after box, component after component, x fastest.
struct CoarseLevel {
  std::vector<std::int64_t> first;  ///< cell of each box, and the end
  Array<float> values;
  Array<std::uint8_t> hidden;
};

struct Coarse {
  int n_components = 0, rank = 0;
  std::vector<Layout> layouts;
  std::vector<CoarseLevel> levels;

  Box box(int level, std::int64_t own) const { return layouts[level].box(layouts[level].owned(rank).first + own); }
  std::span<float> values(int level, std::int64_t own, int component) {
    const std::int64_t cells = box(level, own).count();
    return levels[level].values.span().subspan(levels[level].first[own] * n_components + component * cells, cells);
  }
  std::span<std::uint8_t> hidden(int level, std::int64_t own) {
    return levels[level].hidden.span().subspan(levels[level].first[own], box(level, own).count());
  }
};

void allocate(Coarse& coarse) {
  for (int l = 0; l < static_cast<int>(coarse.layouts.size()); ++l) {
    const auto [first, last] = coarse.layouts[l].owned(coarse.rank);
    CoarseLevel level{{0}, {}, {}};
    for (std::int64_t b = 0; b < last - first; ++b)
      level.first.push_back(level.first.back() + coarse.box(l, b).count());
    level.values = Array<float>(level.first.back() * coarse.n_components, Purpose::buffers, 0.0F);
    level.hidden = Array<std::uint8_t>(level.first.back(), Purpose::buffers, cell_is_solid);
    coarse.levels.push_back(std::move(level));
  }
}

/// The blocks of a box of the grid.
struct Blocks {
  Box cells;                  ///< of the file
  std::vector<float> values;  ///< component after component, x fastest
  std::vector<std::uint8_t> hidden;
};

/// What blocks of a box are made of.
class BlockMaker {
 public:
  BlockMaker(const PlotDescription& plot, int n, const std::vector<BlockValue>& values, const BlockWeights& weights)
      : plot_(plot), n_(n), values_(values), weights_(weights) {}

  Blocks blocks(int level, std::int64_t own, const Box& box) const {
    Cells c{level, own, box};
    c.n = static_cast<std::size_t>(box.count());
    Blocks out{{box.lo, box.hi}, {}, {}};
    for (int d = 0; d < 3; ++d) out.cells.lo[d] /= n_, out.cells.hi[d] /= n_;
    c.n_blocks = static_cast<std::size_t>(out.cells.count());
    for_each_cell(box, [&](const Index& cell) {
      c.block.push_back(static_cast<int>(out.cells.offset({cell[0] / n_, cell[1] / n_, cell[2] / n_})));
    });
    hide(c, out);
    out.values.resize(c.n_blocks * values_.size());
    for (std::size_t component = 0; component < values_.size();) component += fill(c, component, out);
    return out;
  }

 private:
  struct Cells {
    int level;
    std::int64_t own;
    Box box;
    std::size_t n = 0, n_blocks = 0;
    std::vector<int> block{};    ///< of each cell
    std::vector<float> fluid{};  ///< of each cell that is not hidden
  };

  void hide(Cells& c, Blocks& out) const {
    std::vector<std::uint8_t> hidden(c.n);
    plot_.hide(c.level, c.own, hidden);
    c.fluid.resize(c.n);
    plot_.fill(c.level, c.own, weights_.fraction, c.fluid);
    std::vector<std::uint8_t> covered(c.n_blocks, 0), seen(c.n_blocks, 0);
    for (std::size_t i = 0; i < c.n; ++i) {
      if ((hidden[i] & cell_is_covered) != 0) covered[c.block[i]] = cell_is_covered;
      if (hidden[i] != 0) c.fluid[i] = 0.0F;
      if (c.fluid[i] > 0.0F) seen[c.block[i]] = 1;
    }
    out.hidden.resize(c.n_blocks);
    for (std::size_t b = 0; b < c.n_blocks; ++b)
      out.hidden[b] = static_cast<std::uint8_t>(covered[b] | (seen[b] != 0 || covered[b] != 0 ? 0 : cell_is_solid));
  }

  /// Values of the cells.
  std::vector<float> read(const Cells& c, std::size_t component) const {
    std::vector<float> values(c.n);
    plot_.fill(c.level, c.own, static_cast<int>(component), values);
    return values;
  }

  /// Σ w v of each block, over Σ w if that is asked for; 0 where the weights are.
  std::vector<double> sums(const Cells& c, std::span<const float> values, std::span<const float> weights,
                           bool mean) const {
    std::vector<double> sum(c.n_blocks, 0.0), weight(c.n_blocks, 0.0);
    for (std::size_t i = 0; i < c.n; ++i) {
      const double w = weights.empty() ? 1.0 : double{weights[i]};
      if (w == 0.0 || std::isnan(values[i])) continue;
      sum[c.block[i]] += w * double{values[i]};
      weight[c.block[i]] += w;
    }
    for (std::size_t b = 0; mean && b < c.n_blocks; ++b)
      if (weight[b] > 0.0) sum[b] /= weight[b];
    return sum;
  }

  std::vector<float> wall_area(const Cells& c) const {
    std::vector<float> area(c.n);
    plot_.fill(c.level, c.own, weights_.wall_area, area);
    return area;
  }

  /// Unit vectors, into three components of the blocks.
  void fill_direction(const Cells& c, std::size_t component, Blocks& out) const {
    const std::vector<float> area = wall_area(c);
    std::vector<Vec3> along(c.n_blocks);
    for (int d = 0; d < 3; ++d) {
      const std::vector<double> sum = sums(c, read(c, component + d), area, false);
      for (std::size_t b = 0; b < c.n_blocks; ++b) along[b][d] = sum[b];
    }
    for (std::size_t b = 0; b < c.n_blocks; ++b)
      for (int d = 0; d < 3; ++d)
        if (const double length = norm(along[b]); length > 0.0)
          out.values[(component + d) * c.n_blocks + b] = static_cast<float>(along[b][d] / length);
  }

  void fill_majority(const Cells& c, std::size_t component, Blocks& out) const {
    const std::vector<float> area = wall_area(c), values = read(c, component);
    std::map<std::pair<int, float>, double> areas;
    for (std::size_t i = 0; i < c.n; ++i)
      if (area[i] > 0.0F && values[i] > 0.0F) areas[{c.block[i], values[i]}] += double{area[i]};
    std::vector<double> most(c.n_blocks, 0.0);
    for (const auto& [what, of_value] : areas)
      if (of_value > most[what.first]) {
        most[what.first] = of_value;
        out.values[component * c.n_blocks + what.first] = what.second;
      }
  }

  /// @return components that are filled
  std::size_t fill(const Cells& c, std::size_t component, Blocks& out) const {
    const BlockValue how = values_[component];
    if (how == BlockValue::wall_direction) {
      fill_direction(c, component, out);
      return 3;
    }
    if (how == BlockValue::wall_majority) {
      fill_majority(c, component, out);
      return 1;
    }
    const std::span<const float> weights = how == BlockValue::fluid_mean ? c.fluid : std::span<const float>();
    const std::vector<double> sum = sums(c, read(c, component), weights, how != BlockValue::sum);
    for (std::size_t b = 0; b < c.n_blocks; ++b) out.values[component * c.n_blocks + b] = static_cast<float>(sum[b]);
    return 1;
  }

  const PlotDescription& plot_;
  int n_;
  const std::vector<BlockValue>& values_;
  BlockWeights weights_;
};

/// Own blocks into an own box of the file.
void put(Coarse& coarse, int level, const Blocks& blocks) {
  const Layout& layout = coarse.layouts[level];
  const std::int64_t own = layout.find_cell(blocks.cells.lo) - layout.owned(coarse.rank).first;
  const Box box = coarse.box(level, own);
  const std::int64_t n = blocks.cells.count();
  std::int64_t i = 0;
  for_each_cell(blocks.cells, [&](const Index& cell) {
    const std::int64_t at = box.offset(cell);
    for (int c = 0; c < coarse.n_components; ++c) coarse.values(level, own, c)[at] = blocks.values[c * n + i];
    coarse.hidden(level, own)[at] = blocks.hidden[i];
    ++i;
  });
}

/// Makes all blocks, and sends those of boxes that another rank has. Collective.
void make_blocks(const Comm& comm, const PlotDescription& plot, const BlockMaker& maker, Coarse& coarse) {
  std::map<int, ByteWriter> away;
  fail_together(comm, [&] {
    for (int l = 0; l < static_cast<int>(plot.levels.size()); ++l) {
      const Layout &fine = *plot.levels[l], &file = coarse.layouts[l];
      const auto [first, last] = fine.owned(comm.rank());
      std::vector<std::pair<int, Blocks>> others(last - first, {comm.rank(), {}});
      parallel_for_dynamic(last - first, [&](std::int64_t b) {
        Blocks blocks = maker.blocks(l, b, fine.box(first + b));
        const int owner = file.owner(file.find_cell(blocks.cells.lo));
        if (owner == comm.rank())
          put(coarse, l, blocks);
        else
          others[b] = {owner, std::move(blocks)};
      });
      for (auto& [owner, blocks] : others) {
        if (owner == comm.rank()) continue;
        ByteWriter& out = away[owner];
        out.put(l);
        out.put(blocks.cells);
        out.put_vector(blocks.values);
        out.put_vector(blocks.hidden);
      }
    }
  });
  std::vector<Message> out;
  for (auto& [rank, bytes] : away) out.push_back({rank, bytes.take()});
  for (const Message& in : comm.sparse_exchange(std::move(out))) {
    ByteReader bytes(in.bytes);
    while (!bytes.at_end()) {
      const int level = bytes.get<int>();
      Blocks blocks{bytes.get<Box>(), {}, {}};
      blocks.values = bytes.get_vector<float>();
      blocks.hidden = bytes.get_vector<std::uint8_t>();
      put(coarse, level, blocks);
    }
  }
}

}  // namespace

PlotDescription plot_coarsened(const Comm& comm, const PlotDescription& plot, int n,
                               const std::vector<BlockValue>& values, const BlockWeights& weights) {
  const int shift = std::countr_zero(static_cast<unsigned>(n));
  auto coarse = std::make_shared<Coarse>();
  coarse->n_components = static_cast<int>(values.size());
  coarse->rank = comm.rank();
  coarse->layouts.push_back(merged(*plot.levels[0], shift));
  for (std::size_t l = 1; l < plot.levels.size(); ++l) {
    Layout level = coarsened(*plot.levels[l]);
    for (int s = 1; s < shift; ++s) level = coarsened(level);
    coarse->layouts.push_back(std::move(level));
  }
  fail_together(comm, [&] { allocate(*coarse); });
  make_blocks(comm, plot, BlockMaker(plot, n, values, weights), *coarse);
  PlotDescription small = plot;
  small.cell_width = plot.cell_width * n;
  small.coarsening = n;
  if (small.region)
    for (int d = 0; d < 3; ++d) small.region->lo[d] /= n, small.region->hi[d] /= n;
  point_to(coarse->layouts, small);
  small.fill = [coarse](int level, std::int64_t box, int component, std::span<float> cells) {
    std::ranges::copy(coarse->values(level, box, component), cells.begin());
  };
  small.hide = [coarse](int level, std::int64_t box, std::span<std::uint8_t> cells) {
    std::ranges::copy(coarse->hidden(level, box), cells.begin());
  };
  return small;
}

}  // namespace karst
