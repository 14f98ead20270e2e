// SPDX-License-Identifier: BSD-3-Clause
#include "fields/ground.hpp"

namespace karst {

const std::shared_ptr<const CompositeNumbering>& Ground::numbering() const {
  if (!numbering_) numbering_ = std::make_shared<const CompositeNumbering>(comm_, geometry());
  return numbering_;
}

const std::shared_ptr<const Composite>& Ground::composite() const {
  if (!composite_) composite_ = std::make_shared<const Composite>(comm_, geometry_, numbering());
  return composite_;
}

const std::shared_ptr<const JoinedCells>& Ground::joined() const {
  if (!joined_) joined_ = std::make_shared<const JoinedCells>(comm_, geometry_, numbering());
  return joined_;
}

}  // namespace karst
