// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "fields/composite.hpp"
#include "grid/field.hpp"

namespace karst {

/// Values over the VoFs of all levels of a composite grid, component after component, halo and ghost slots included.
/// Unknowns are the VoFs that are not covered; what stands in the others is said by who fills them (cell_fill.hpp).
class CellField {
 public:
  /// All 0. Not collective.
  explicit CellField(std::shared_ptr<const Composite> composite, int n_components = 1,
                     Purpose purpose = Purpose::fields);

  const Composite& grid() const { return *composite_; }
  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  int n_levels() const { return static_cast<int>(levels_.size()); }
  int n_components() const { return n_components_; }
  Field& level(int l) { return levels_[static_cast<std::size_t>(l)]; }
  const Field& level(int l) const { return levels_[static_cast<std::size_t>(l)]; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  std::shared_ptr<const Composite> composite_;
  int n_components_;
  std::vector<Field> levels_;
};

}  // namespace karst
