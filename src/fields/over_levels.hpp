// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fields/composite.hpp"

namespace karst {

/// What every field on a composite grid has: the grid, a number of components, and an array for each level.
/// @tparam Values  the array; bytes() is its size
template <class Values>
class OverLevels {
 public:
  const Composite& grid() const { return *composite_; }
  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  int n_levels() const { return static_cast<int>(levels_.size()); }
  int n_components() const { return n_components_; }
  std::int64_t bytes() const {  ///< of this rank
    std::size_t sum = 0;
    for (const Values& level : levels_) sum += level.bytes();
    return static_cast<std::int64_t>(sum);
  }

 protected:
  OverLevels(std::shared_ptr<const Composite> composite, int n_components)
      : composite_(std::move(composite)), n_components_(n_components) {}

  std::shared_ptr<const Composite> composite_;
  int n_components_;
  std::vector<Values> levels_;
};

}  // namespace karst
