// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fields/composite.hpp"

namespace karst {

/// Values over the pieces of wall of a composite grid: one number per irregular VoF and component, parallel to
/// LevelGeometry::moments. Values of VoFs without wall, or under a finer level, have no meaning.
class WallField {
 public:
  /// All 0. Not collective.
  explicit WallField(std::shared_ptr<const Composite> composite, int n_components = 1,
                     Purpose purpose = Purpose::fields);

  const Composite& grid() const { return *composite_; }
  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  int n_levels() const { return static_cast<int>(levels_.size()); }
  int n_components() const { return n_components_; }
  std::int64_t bytes() const;  ///< of this rank

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

  std::shared_ptr<const Composite> composite_;
  int n_components_;
  std::vector<Array<double>> levels_;
};

}  // namespace karst
