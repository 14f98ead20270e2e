// SPDX-License-Identifier: BSD-3-Clause
#include "fields/wall_field.hpp"

namespace karst {

WallField::WallField(std::shared_ptr<const Composite> composite, int n_components, Purpose purpose)
    : OverLevels(std::move(composite), n_components) {
  for (int l = 0; l < composite_->n_levels(); ++l) levels_.emplace_back(n_components * n_rows(l), purpose, 0.0);
}

}  // namespace karst
