// SPDX-License-Identifier: BSD-3-Clause
#include "fields/wall_field.hpp"

namespace karst {

WallField::WallField(std::shared_ptr<const Composite> composite, int n_components, Purpose purpose)
    : composite_(std::move(composite)), n_components_(n_components) {
  for (int l = 0; l < composite_->n_levels(); ++l) levels_.emplace_back(n_components * n_rows(l), purpose, 0.0);
}

std::int64_t WallField::bytes() const {
  std::size_t sum = 0;
  for (const Array<double>& level : levels_) sum += level.bytes();
  return static_cast<std::int64_t>(sum);
}

}  // namespace karst
