// SPDX-License-Identifier: BSD-3-Clause
// Values at the corners of the cells of some boxes of a lattice: stored sparsely, with a layout, owners and halo of
// their own. Corner (i, j, k) is the low corner of cell (i, j, k).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/layout.hpp"
#include "grid/list_exchange.hpp"

namespace karst {

/// Consecutive corners of a region along one direction that one box holds.
struct CornerRun {
  int begin, end;  ///< coordinates of the region
  int shift;       ///< to be added to get those of the box
  int position;    ///< of the box in the lattice
};

class CornerBlocks {
 public:
  /// Layers of corners beyond sides of the domain that are not periodic, held by the boxes there. Farther outside, the
  /// outermost continues.
  static constexpr int outside = 3;

  /// @param reach  halo: corners around the own boxes whose values exchange() fetches
  /// Collective.
  CornerBlocks(const Comm& comm, Layout layout, int reach);

  const Layout& layout() const { return layout_; }
  int n_own() const { return static_cast<int>(last_ - first_); }
  std::int64_t first_own() const { return first_; }  ///< its box number in the layout
  bool is_own(std::int64_t box) const { return box >= first_ && box < last_; }
  /// Corners that a box of the layout holds: the low ones of its cells, at sides of the domain also those outside.
  Box corners(std::int64_t box) const;
  Box own_corners(int own) const { return corners(first_ + own); }
  /// Place of the values of an own box in an array over the own corners: x fastest.
  std::int64_t begin(int own) const { return begin_[first_ + own] - begin_[first_]; }
  std::int64_t n_own_corners() const { return begin_[last_] - begin_[first_]; }
  std::int64_t n_corners() const { return begin_.back(); }  ///< of all ranks
  /// Length of the arrays: own corners, then those of the halo.
  std::int64_t n_stored() const { return n_own_corners() + exchange_.n_received(); }

  /// Fills the halo. Collective.
  void exchange(std::span<double> values) { exchange_.exchange(values); }
  /// Values of a block grown by `margin` <= reach (x fastest), halo filled before. Where there is no box: the value of
  /// the nearest own corner, or 0. Not collective.
  enum class Missing { nearest, zero };
  void gather(int own, int margin, std::span<const double> values, Missing missing, std::span<double> out) const;

  /// Calls f(box of the layout or -1, part of the region, shift to coordinates of the box) for the parts of any region
  /// of corners. Not collective.
  template <class F>
  void for_parts(const Box& region, F&& f) const {
    std::array<std::vector<CornerRun>, 3> runs;
    for (int d = 0; d < 3; ++d) runs[d] = runs_of(d, region.lo[d], region.hi[d]);
    for (const CornerRun& z : runs[2])
      for (const CornerRun& y : runs[1])
        for (const CornerRun& x : runs[0])
          f(layout_.find({x.position, y.position, z.position}), Box{{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}},
            Index{x.shift, y.shift, z.shift});
  }

 private:
  /// Corners of a box of another rank that this one reads.
  struct Image {
    std::int64_t box;
    Box part;
    std::int64_t begin;  ///< in the arrays
  };
  std::vector<CornerRun> runs_of(int d, int lo, int hi) const;
  void plan_halo(const Comm& comm, int reach);

  Layout layout_;
  std::int64_t first_ = 0, last_ = 0;
  std::vector<std::int64_t> begin_;  ///< per box of the layout: corners before it
  std::vector<Image> images_;        ///< by box
  ListExchange exchange_;
};

/// Copies a part of a region out of a block.
/// @param from  values of the block `source`; to: of the region
void copy_corners(const Box& part, const Index& shift, const Box& source, const double* from, const Box& region,
                  double* to);

}  // namespace karst
