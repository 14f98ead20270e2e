// SPDX-License-Identifier: BSD-3-Clause
// Layout of a level: which boxes of the lattice exist and who owns them (docs/decisions/001-boxes-on-a-lattice.md).
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "grid/box.hpp"

namespace karst {

/// The cells of the domain on one level, and its periodic directions.
struct Domain {
  Index cells;
  std::array<bool, 3> periodic{};

  Box box() const { return {Index{}, cells}; }
  /// Same region at twice (ratio 2) the resolution.
  Domain refined() const { return {2 * cells, periodic}; }
};

/// Steps from one cell to a neighbour across a side, the shorter way in periodic directions.
Index step_across(const Domain& domain, const Index& from, const Index& to, int side);

/// Number of lattice positions per direction: ceil(cells / box size).
constexpr Index lattice_size(const Domain& domain, int box_size) {
  Index n;
  for (int d = 0; d < 3; ++d) n[d] = (domain.cells[d] + box_size - 1) / box_size;
  return n;
}

/// Sorted list of the boxes of a level, named by the Morton key of their lattice position, and divided into one
/// contiguous interval per rank. Every rank stores all keys (8 bytes per box); look-up is O(log n).
class Layout {
 public:
  Layout() = default;
  /// @param keys        strictly increasing Morton keys of lattice positions inside the domain
  /// @param rank_begin  n_ranks + 1 increasing positions in keys, first 0, last keys.size()
  Layout(const Domain& domain, int box_size, std::vector<std::uint64_t> keys, std::vector<std::int64_t> rank_begin);

  const Domain& domain() const { return domain_; }
  int box_size() const { return box_size_; }
  std::int64_t n_boxes() const { return static_cast<std::int64_t>(keys_.size()); }
  int n_ranks() const { return static_cast<int>(rank_begin_.size()) - 1; }
  const std::vector<std::uint64_t>& keys() const { return keys_; }

  /// Cells of box b, clipped at the domain boundary.
  Box box(std::int64_t b) const;
  Index lattice_position(std::int64_t b) const;
  Index lattice_size() const { return karst::lattice_size(domain_, box_size_); }
  /// Box at a lattice position, after periodic wrapping; -1 if outside or if no box exists there. O(log n).
  std::int64_t find(Index lattice_position) const;
  /// Box that contains a cell, after periodic wrapping; -1 if there is none.
  std::int64_t find_cell(Index cell) const;
  int owner(std::int64_t b) const;  ///< O(log n_ranks)
  /// Boxes of a rank: [first, second).
  std::pair<std::int64_t, std::int64_t> owned(int rank) const;

 private:
  Domain domain_;
  int box_size_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> rank_begin_{0};
};

/// Same boxes, half the box size and cell count (rounded up): the layout of a coarsened level, with the same owners.
/// The box size must be even.
Layout coarsened(const Layout& fine);

}  // namespace karst
