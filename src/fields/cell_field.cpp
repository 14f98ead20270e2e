// SPDX-License-Identifier: BSD-3-Clause
#include "fields/cell_field.hpp"

namespace karst {

CellField::CellField(std::shared_ptr<const Composite> composite, int n_components, Purpose purpose)
    : composite_(std::move(composite)), n_components_(n_components) {
  for (int l = 0; l < composite_->n_levels(); ++l) levels_.emplace_back(composite_->graph(l), n_components, purpose);
}

std::int64_t CellField::bytes() const {
  std::size_t sum = 0;
  for (const Field& level : levels_) sum += level.bytes();
  return static_cast<std::int64_t>(sum);
}

}  // namespace karst
