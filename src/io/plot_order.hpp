// SPDX-License-Identifier: BSD-3-Clause
// The order of the boxes of a level in a plotfile: by size, and in Morton order among equals.
//
// Only boxes clipped at the domain boundary differ in size, so there are at most eight sizes, and each is one evenly
// strided run of the file, with whole boxes in a chunk; a rank writes at most eight parts of it. VTK finds the data of
// a box by adding up the sizes of the boxes before it, so the list of boxes and the data must have the same order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

/// Class of a box of a layout: bit d is set if it is clipped in direction d.
std::size_t size_class(const Layout& layout, std::int64_t box);

/// File order of one level, and the position of the boxes of one rank in it. A file may contain the boxes of some ranks
/// only.
class PlotOrder {
 public:
  static constexpr int n_classes = 8;
  /// O(boxes of these ranks). Not collective.
  /// @param ranks  whose boxes the file holds, increasing
  PlotOrder(const Layout& layout, int rank, std::span<const int> ranks);
  /// Of all ranks.
  PlotOrder(const Layout& layout, int rank);

  const std::array<SizeClass, n_classes>& classes() const { return classes_; }
  std::int64_t n_cells() const { return n_cells_; }  ///< of all boxes in the file
  /// Own boxes (counted from 0 in the layout's order) in file order.
  const std::vector<std::int64_t>& own() const { return own_; }
  std::int64_t first_own() const { return first_own_; }                 ///< in the layout
  std::int64_t position(std::int64_t i) const { return position_[i]; }  ///< of own()[i] in the file's list
  /// All boxes of the layout in file order, where the file holds all. O(boxes).
  std::vector<std::int64_t> all(const Layout& layout) const;

 private:
  std::array<SizeClass, n_classes> classes_{};
  std::int64_t n_cells_ = 0, first_own_ = 0;
  std::vector<std::int64_t> own_, position_;
};

}  // namespace karst
