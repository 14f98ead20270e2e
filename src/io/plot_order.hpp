// SPDX-License-Identifier: BSD-3-Clause
// The order in which the boxes of a level stand in a plotfile: by size, and in Morton order among equals.
//
// Only boxes clipped at the end of the domain differ in size, so there are at most eight sizes, and each is one
// evenly strided run of the file, with whole boxes in a chunk; a rank writes at most eight parts of it. VTK finds the
// data of a box by adding up the sizes of the boxes before it, so the list of boxes and the data must stand in the same
// order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grid/layout.hpp"

namespace karst {

/// Boxes of one size, one after the other in the file.
struct SizeClass {
  std::int64_t box_cells = 0;  ///< cells of each box
  std::int64_t first_box = 0;  ///< position of the first in the file's list
  std::int64_t n_boxes = 0;
  std::int64_t first_cell = 0;  ///< cells of the level before this class
};

/// File order of one level, and where the boxes of one rank stand in it.
class PlotOrder {
 public:
  static constexpr int n_classes = 8;
  /// O(boxes of the level). Not collective.
  PlotOrder(const Layout& layout, int rank);

  const std::array<SizeClass, n_classes>& classes() const { return classes_; }
  std::int64_t n_cells() const { return n_cells_; }  ///< of all boxes of the level
  /// Own boxes (counted from 0 in the layout's order) in file order.
  const std::vector<std::int64_t>& own() const { return own_; }
  int class_of(const Layout& layout, std::int64_t box) const;
  std::int64_t position(std::int64_t i) const { return position_[i]; }  ///< of own()[i] in the file's list
  /// All boxes of the layout in file order. O(boxes).
  std::vector<std::int64_t> all(const Layout& layout) const;

 private:
  std::array<SizeClass, n_classes> classes_{};
  std::int64_t n_cells_ = 0;
  std::vector<std::int64_t> own_, position_;
};

}  // namespace karst
