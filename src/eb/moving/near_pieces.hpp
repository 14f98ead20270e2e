// SPDX-License-Identifier: BSD-3-Clause
// Pieces of wall around a point, with weights that fall to 0 at the end of their reach.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "grid/box.hpp"

namespace karst {

/// A piece of wall of some rank. Place and area in spacings of the corners of a displacement.
struct NearPiece {
  Vec3 at;
  double area = 0.0;
  double value = 0.0;       ///< whose means are wanted
  double owed = 0.0;        ///< transfer_to_moved_walls() [h0³]
  int rank = 0, level = 0;  ///< whose geometry has it
  std::int64_t row = 0;     ///< there
};

class NearPieces {
 public:
  /// @param domain  of the lattice of the corners
  NearPieces(const Domain& domain, std::vector<NearPiece> pieces) : domain_(domain), pieces_(std::move(pieces)) {
    std::ranges::sort(pieces_, [&](const NearPiece& a, const NearPiece& b) {
      const std::int64_t in_a = cell_of(a.at), in_b = cell_of(b.at);
      return in_a != in_b ? in_a < in_b : a.at < b.at;  // the same order on any number of ranks
    });
    for (const NearPiece& p : pieces_) cells_.push_back(cell_of(p.at));
    slots_.assign(std::bit_ceil(2 * pieces_.size() + 1), -1);
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (i == 0 || cells_[i] != cells_[i - 1]) {
        std::size_t slot = hash(cells_[i]);
        while (slots_[slot] >= 0) slot = (slot + 1) % slots_.size();
        slots_[slot] = static_cast<std::int32_t>(i);
      }
  }

  const std::vector<NearPiece>& all() const { return pieces_; }
  const Domain& domain() const { return domain_; }

  /// Calls f(number of the piece in all(), weight) for those nearer than `reach`, with weights area (1 - r²/reach²)².
  /// Returns the sum of the weights.
  template <class F>
  double around(const Vec3& x, double reach, F&& f) const {
    const int cells = static_cast<int>(std::ceil(reach));
    const Index middle{static_cast<int>(std::floor(x[0])), static_cast<int>(std::floor(x[1])),
                       static_cast<int>(std::floor(x[2]))};
    Box box{middle - Index::all(cells), middle + Index::all(cells + 1)};
    for (int d = 0; d < 3; ++d) {
      const int n = domain_.cells[d];
      if (!domain_.periodic[d])
        box.lo[d] = std::clamp(box.lo[d], 0, n - 1), box.hi[d] = std::clamp(box.hi[d], 1, n);
      else if (box.size(d) > n)
        box.lo[d] = 0, box.hi[d] = n;
    }
    double sum = 0.0;
    for_each_cell(box, [&](const Index& c) {
      if (is_farther(c, x, reach)) return;
      const std::int64_t cell = cell_of(to_vec(c));
      const std::int32_t first = first_in(cell);
      for (std::size_t i = first; first >= 0 && i < pieces_.size() && cells_[i] == cell; ++i) {
        const Vec3 r = nearest_image(pieces_[i].at - x);
        const double part = 1.0 - dot(r, r) / (reach * reach);
        if (part <= 0.0) continue;
        const double weight = pieces_[i].area * part * part;
        sum += weight;
        f(i, weight);
      }
    });
    return sum;
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
  std::int64_t cell_of(const Vec3& x) const {
    Index c;
    for (int d = 0; d < 3; ++d) {
      const int n = domain_.cells[d], i = static_cast<int>(std::floor(x[d]));
      c[d] = domain_.periodic[d] ? (i % n + n) % n : std::clamp(i, 0, n - 1);
    }
    return domain_.box().offset(c);
  }
  /// All of a cell within the domain, with a margin for round-off. Wrapped cells are looked at.
  bool is_farther(const Index& c, const Vec3& x, double reach) const {
    constexpr double margin = 1e-6;
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      if (domain_.periodic[d] && (c[d] < 0 || c[d] >= domain_.cells[d] || x[d] < 0.0 || x[d] > domain_.cells[d]))
        return false;
      if (domain_.periodic[d] && domain_.cells[d] <= 2 * std::ceil(reach) + 1.0) continue;   // images are nearer
      if (2 * c[d] < domain_.cells[d] ? c[d] == 0 : c[d] + 1 == domain_.cells[d]) continue;  // may hold those outside
      const double away = std::max({c[d] - x[d], x[d] - (c[d] + 1.0), 0.0});
      square += away * away;
    }
    return square > (reach + margin) * (reach + margin);
  }
  std::size_t hash(std::int64_t cell) const {
    return (static_cast<std::uint64_t>(cell) * 0x9e3779b97f4a7c15U >> 20) % slots_.size();
  }
  /// Number of the first piece of a cell; -1: none.
  std::int32_t first_in(std::int64_t cell) const {
    std::size_t slot = hash(cell);
    while (slots_[slot] >= 0 && cells_[slots_[slot]] != cell) slot = (slot + 1) % slots_.size();
    return slots_[slot];
  }
  Vec3 nearest_image(Vec3 r) const {
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d]) r[d] -= domain_.cells[d] * std::round(r[d] / domain_.cells[d]);
    return r;
  }

  Domain domain_;
  std::vector<NearPiece> pieces_;    ///< cell by cell
  std::vector<std::int64_t> cells_;  ///< of each
  std::vector<std::int32_t> slots_;
};

}  // namespace karst
