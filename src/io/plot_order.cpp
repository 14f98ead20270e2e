// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_order.hpp"

#include <numeric>

namespace karst {

std::size_t size_class(const Layout& layout, std::int64_t box) {
  const Index size = layout.box(box).size();
  unsigned bits = 0;
  for (int d = 0; d < 3; ++d) bits |= (size[d] < layout.box_size() ? 1U : 0U) << d;
  return bits;
}

namespace {

std::vector<int> all_ranks(const Layout& layout) {
  std::vector<int> ranks(layout.n_ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

PlotOrder::PlotOrder(const Layout& layout, int rank) : PlotOrder(layout, rank, all_ranks(layout)) {}

PlotOrder::PlotOrder(const Layout& layout, int rank, std::span<const int> ranks)
    : first_own_(layout.owned(rank).first) {
  std::array<std::int64_t, n_classes> before{};  // boxes of a class on lower ranks
  std::array<std::vector<std::int64_t>, n_classes> mine;
  for (const int r : ranks) {
    const auto [begin, end] = layout.owned(r);
    for (std::int64_t b = begin; b < end; ++b) {
      const std::size_t c = size_class(layout, b);
      classes_[c].box_cells = layout.box(b).count();
      ++classes_[c].n_boxes;
      if (r < rank) ++before[c];
      if (r == rank) mine[c].push_back(b - begin);
    }
  }
  std::int64_t boxes = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    classes_[c].first_box = boxes;
    classes_[c].first_cell = n_cells_;
    for (std::size_t i = 0; i < mine[c].size(); ++i) {
      own_.push_back(mine[c][i]);
      position_.push_back(boxes + before[c] + static_cast<std::int64_t>(i));
    }
    boxes += classes_[c].n_boxes;
    n_cells_ += classes_[c].n_boxes * classes_[c].box_cells;
  }
}

std::vector<std::int64_t> PlotOrder::all(const Layout& layout) const {
  std::array<std::int64_t, n_classes> next{};
  for (std::size_t c = 0; c < n_classes; ++c) next[c] = classes_[c].first_box;
  std::vector<std::int64_t> order(layout.n_boxes());
  for (std::int64_t b = 0; b < layout.n_boxes(); ++b) order[next[size_class(layout, b)]++] = b;
  return order;
}

}  // namespace karst
