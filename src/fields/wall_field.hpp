// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "fields/over_levels.hpp"

namespace karst {

/// Values over the pieces of wall of a composite grid: one number per irregular VoF and component, parallel to
/// LevelGeometry::moments. Values of VoFs without wall, or under a finer level, have no meaning.
class WallField : public OverLevels<Array<double>> {
 public:
  /// All 0. Not collective.
  explicit WallField(std::shared_ptr<const Composite> composite, int n_components = 1,
                     Purpose purpose = Purpose::fields);

  /// Of the own boxes, one after the other.
  std::span<double> level(int l, int component = 0) { return part(l, component, 0, n_rows(l)); }
  std::span<const double> level(int l, int component = 0) const { return part(l, component, 0, n_rows(l)); }
  /// Of the irregular VoFs of an own box, in the order of their rows.
  std::span<double> box(int l, int local, int component = 0) {
    return part(l, component, row_begin(l, local), row_begin(l, local + 1));
  }
  std::span<const double> box(int l, int local, int component = 0) const {
    return part(l, component, row_begin(l, local), row_begin(l, local + 1));
  }

 private:
  std::size_t n_rows(int l) const { return grid().level(l).moments.size(); }
  std::size_t row_begin(int l, int local) const { return grid().level(l).moments_begin[local]; }
  std::span<double> part(int l, int component, std::size_t begin, std::size_t end) {
    return levels_[l].span().subspan(component * n_rows(l) + begin, end - begin);
  }
  std::span<const double> part(int l, int component, std::size_t begin, std::size_t end) const {
    return levels_[l].span().subspan(component * n_rows(l) + begin, end - begin);
  }
};

}  // namespace karst
