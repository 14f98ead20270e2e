// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_order.hpp"

namespace karst {

namespace {

/// Bit d is set when the box is clipped in direction d.
int clipped_directions(const Layout& layout, std::int64_t box) {
  const Index size = layout.box(box).size();
  int bits = 0;
  for (int d = 0; d < 3; ++d) bits |= (size[d] < layout.box_size() ? 1 : 0) << d;
  return bits;
}

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

PlotOrder::PlotOrder(const Layout& layout, int rank) {
  const auto [own_begin, own_end] = layout.owned(rank);
  std::array<std::int64_t, n_classes> before{};  // boxes of a class on lower ranks
  std::array<std::vector<std::int64_t>, n_classes> mine;
  for (std::int64_t b = 0; b < layout.n_boxes(); ++b) {
    const std::size_t c = place(class_of(layout, b));
    classes_[c].box_cells = layout.box(b).count();
    ++classes_[c].n_boxes;
    if (b < own_begin) ++before[c];
    if (b >= own_begin && b < own_end) mine[c].push_back(b - own_begin);
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

int PlotOrder::class_of(const Layout& layout, std::int64_t box) const { return clipped_directions(layout, box); }

std::vector<std::int64_t> PlotOrder::all(const Layout& layout) const {
  std::array<std::int64_t, n_classes> next{};
  for (std::size_t c = 0; c < n_classes; ++c) next[c] = classes_[c].first_box;
  std::vector<std::int64_t> order(place(layout.n_boxes()));
  for (std::int64_t b = 0; b < layout.n_boxes(); ++b) order[place(next[place(class_of(layout, b))]++)] = b;
  return order;
}

}  // namespace karst
