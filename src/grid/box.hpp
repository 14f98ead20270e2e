// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math/triple.hpp"

namespace karst {

/// A cuboid of cells: lo is the first cell, hi is one past the last in every direction. It is used for the lattice
/// boxes of the grid (cubes, clipped at the domain boundary) and for any region.
struct Box {
  Index lo, hi;

  constexpr int size(int d) const { return hi[d] - lo[d]; }
  constexpr Index size() const { return hi - lo; }
  constexpr bool empty() const { return size(0) <= 0 || size(1) <= 0 || size(2) <= 0; }
  constexpr std::int64_t count() const { return empty() ? 0 : std::int64_t{size(0)} * size(1) * size(2); }
  constexpr bool contains(const Index& c) const {
    for (int d = 0; d < 3; ++d)
      if (c[d] < lo[d] || c[d] >= hi[d]) return false;
    return true;
  }
  constexpr Box grown(int n) const { return {lo - Index::all(n), hi + Index::all(n)}; }
  constexpr Box shifted(const Index& by) const { return {lo + by, hi + by}; }
  /// Index of a cell in the lexicographic order of this box (x fastest); the cell must be inside.
  constexpr std::int64_t offset(const Index& c) const {
    return (std::int64_t{c[2] - lo[2]} * size(1) + (c[1] - lo[1])) * size(0) + (c[0] - lo[0]);
  }
  /// Inverse of offset().
  constexpr Index cell(std::int64_t offset) const {
    const std::int64_t nx = size(0), ny = size(1);
    const std::int64_t row = quotient(offset, nx), plane = quotient(row, ny);
    return lo + Index{static_cast<int>(offset - row * nx), static_cast<int>(row - plane * ny), static_cast<int>(plane)};
  }
  friend constexpr bool operator==(const Box&, const Box&) = default;

 private:
  /// a / b for a >= 0, b > 0; 32-bit division, where it suffices, takes a third of the time.
  static constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    return a < limit && b < limit ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
  }
};

constexpr Box intersect(const Box& a, const Box& b) {
  Box c;
  for (int d = 0; d < 3; ++d) {
    c.lo[d] = std::max(a.lo[d], b.lo[d]);
    c.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return c;
}

/// Calls f(Index) for every cell of the box, x fastest.
template <class F>
constexpr void for_each_cell(const Box& box, F&& f) {
  for (int k = box.lo[2]; k < box.hi[2]; ++k)
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
      for (int i = box.lo[0]; i < box.hi[0]; ++i) f(Index{i, j, k});
}

}  // namespace karst
