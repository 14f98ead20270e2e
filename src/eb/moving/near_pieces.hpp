// SPDX-License-Identifier: BSD-3-Clause
// Pieces of wall around a point, with weights that fall to 0 at the end of their reach. Reaches are in widths of the
// cells that the pieces are in: those of coarser cells stand farther apart.
//
// Pieces are sorted by the cells of the lattice that they are in, x fastest, so those of cells along a row follow one
// another. A table finds the pieces of eight cells along x at once: a search visits rows, not cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "grid/layout.hpp"

namespace karst {

/// A piece of wall of some rank. Place and area in spacings of the corners of a displacement.
struct NearPiece {
  Vec3 at;
  double area = 0.0;
  double value = 0.0;       ///< whose means are wanted
  double owed = 0.0;        ///< transfer_to_moved_walls() [h0³]
  int rank = 0, level = 0;  ///< whose geometry has it
  std::int64_t row = 0;     ///< there
  Vec3 normal{};            ///< into the fluid, of what goes along walls
  double width = 1.0;       ///< of its cell [spacings]
};

class NearPieces {
 public:
  /// @param domain  of the lattice of the corners
  NearPieces(const Domain& domain, std::vector<NearPiece> pieces);

  /// In an order that does not depend on the number of ranks.
  const std::vector<NearPiece>& all() const { return pieces_; }
  const Domain& domain() const { return domain_; }
  /// The largest width of a piece.
  double widest() const { return widest_; }

  /// Calls f(number of the piece in all(), weight) for those nearer than R = reach × width, with weights
  /// area (1 - r²/R²)². Returns the sum of the weights.
  /// @param least  widths are not taken to be smaller [spacings]
  template <class F>
  double around(const Vec3& x, double reach, F&& f, double least = 1.0) const {
    double sum = 0.0;
    for_runs(x, x, reach * std::max(least, widest_), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const Vec3 r = nearest_image(pieces_[i].at - x);
        const double end = reach * std::max(least, pieces_[i].width), part = 1.0 - dot(r, r) / (end * end);
        if (part <= 0.0) continue;
        const double weight = pieces_[i].area * part * part;
        sum += weight;
        f(i, weight);
      }
    });
    return sum;
  }

  /// Of a piece at r, as above; 0 beyond R.
  static double weight(const Vec3& r, double area, double square_of_end) {
    const double part = 1.0 - dot(r, r) / square_of_end;
    return part > 0.0 ? area * part * part : 0.0;
  }

  /// Calls f(piece) for all that may be nearer than widths × width to a point of the cuboid from lo to hi, in the order
  /// of around(). Returns false, without any call, where images of pieces are to be told apart.
  template <class F>
  bool around_all(const Vec3& lo, const Vec3& hi, double widths, F&& f) const {
    const double reach = widths * widest_;
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d] && (lo[d] < reach + 1.0 || hi[d] > domain_.cells[d] - reach - 1.0)) return false;
    for_runs(lo, hi, reach, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        double away = 0.0;
        for (int d = 0; d < 3; ++d) {
          const double a = std::max({lo[d] - pieces_[i].at[d], pieces_[i].at[d] - hi[d], 0.0});
          away += a * a;
        }
        const double end = widths * pieces_[i].width + margin;
        if (away < end * end) f(pieces_[i]);
      }
    });
    return true;
  }

  /// Mean of the values with these weights.
  struct Mean {
    double weight = 0.0, sum = 0.0;
  };
  Mean mean(const Vec3& x, double reach) const {
    Mean all;
    all.weight = around(x, reach, [&](std::size_t i, double w) { all.sum += w * pieces_[i].value; });
    return all;
  }

 private:
  static constexpr int row_part = 8;      ///< cells along x that are found at once
  static constexpr double margin = 1e-6;  ///< for round-off

  /// Cells from lo to hi - 1 along a direction; beyond the domain where it is periodic.
  struct Cells {
    int lo, hi;
  };
  struct Slot {
    std::int64_t part;    ///< of a row; -1: the slot is free
    std::int32_t number;  ///< of the part among those with pieces
  };

  Index cell_of(const Vec3& x) const;
  /// Where the domain is periodic.
  Vec3 in_domain(Vec3 x) const {
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d] && (x[d] < 0.0 || x[d] >= domain_.cells[d]))
        x[d] -= domain_.cells[d] * std::floor(x[d] / domain_.cells[d]);
    return x;
  }
  void list_parts(std::span<const std::int64_t> cells);
  /// Images may be nearer than what a row of cells tells.
  bool is_small(int d, double reach) const { return domain_.cells[d] <= 2 * std::ceil(reach) + 1.0; }
  Cells cells_near(int d, double lo, double hi, double reach) const {
    const int n = domain_.cells[d];
    if (domain_.periodic[d] && is_small(d, reach)) return {0, n};
    const auto first = static_cast<int>(std::floor(lo - reach - margin));
    const auto end = static_cast<int>(std::floor(hi + reach + margin)) + 1;
    if (domain_.periodic[d]) return {first, end};
    return {std::clamp(first, 0, n - 1), std::clamp(end, 1, n)};
  }
  /// To the nearest place that pieces of a cell may have. The outermost cells hold those outside, too.
  double away(int d, int cell, double lo, double hi, double reach) const {
    if (domain_.periodic[d] ? is_small(d, reach) : cell == 0 || cell + 1 == domain_.cells[d]) return 0.0;
    return std::max({cell - hi, lo - (cell + 1.0), 0.0});
  }
  int wrapped(int d, int cell) const {
    const int n = domain_.cells[d];
    return cell < 0 ? cell + n : cell >= n ? cell - n : cell;
  }

  /// Calls f(first, last) for runs of pieces that may be nearer than `reach` to a point of a cuboid: a point alone, or
  /// one that images do not reach.
  template <class F>
  void for_runs(const Vec3& low, const Vec3& high, double reach, F&& f) const {
    if (pieces_.empty()) return;
    const Vec3 lo = in_domain(low), hi = lo + (high - low);
    const Cells xs = cells_near(0, lo[0], hi[0], reach), ys = cells_near(1, lo[1], hi[1], reach),
                zs = cells_near(2, lo[2], hi[2], reach);
    const double most = (reach + margin) * (reach + margin);
    const int n = domain_.cells[0];
    for (int k = zs.lo; k < zs.hi; ++k) {
      const double dz = away(2, k, lo[2], hi[2], reach);
      for (int j = ys.lo; j < ys.hi; ++j) {
        const double dy = away(1, j, lo[1], hi[1], reach);
        if (dy * dy + dz * dz > most) continue;
        const std::int64_t row = std::int64_t{wrapped(2, k)} * domain_.cells[1] + wrapped(1, j);
        if (xs.lo < 0) for_runs_of(row, {xs.lo + n, n}, f);
        for_runs_of(row, {std::max(xs.lo, 0), std::min(xs.hi, n)}, f);
        if (xs.hi > n) for_runs_of(row, {0, xs.hi - n}, f);
      }
    }
  }
  /// Within the domain.
  template <class F>
  void for_runs_of(std::int64_t row, const Cells& cells, F&& f) const {
    for (int part = cells.lo / row_part; part * row_part < cells.hi; ++part) {
      const std::int32_t number = number_of(row * parts_ + part);
      if (number < 0) continue;
      const std::int32_t* begin = begin_.data() + std::int64_t{row_part} * number;
      const int first = std::max(cells.lo - part * row_part, 0), last = std::min(cells.hi - part * row_part, row_part);
      if (begin[first] < begin[last]) f(begin[first], begin[last]);
    }
  }
  std::size_t hash(std::int64_t part) const {
    return (static_cast<std::uint64_t>(part) * 0x9e3779b97f4a7c15U >> 20) & (slots_.size() - 1);
  }
  /// -1: it has no pieces.
  std::int32_t number_of(std::int64_t part) const {
    std::size_t slot = hash(part);
    while (slots_[slot].part >= 0 && slots_[slot].part != part) slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot].part < 0 ? -1 : slots_[slot].number;
  }
  Vec3 nearest_image(Vec3 r) const {
    constexpr double surely_nearest = 0.49;
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d] && std::abs(r[d]) > surely_nearest * domain_.cells[d])
        r[d] -= domain_.cells[d] * std::round(r[d] / domain_.cells[d]);
    return r;
  }

  Domain domain_;
  double widest_ = 1.0;
  std::vector<NearPiece> pieces_;    ///< cell by cell
  std::int64_t parts_ = 0;           ///< of a row
  std::vector<std::int32_t> begin_;  ///< of the pieces in each cell of the parts with pieces
  std::vector<Slot> slots_;
};

}  // namespace karst
