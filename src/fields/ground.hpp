// SPDX-License-Identifier: BSD-3-Clause
// What a run computes on: a geometry and all that follows from it alone, shared by whoever uses it and never changed. A
// changed geometry is another ground. Results of a finished job keep their ground. What higher layers derive from it
// they share by Composite::in_use().
#pragma once

#include <cstdint>
#include <memory>

#include "fields/composite.hpp"
#include "fields/joined_cells.hpp"

namespace karst {

class Ground {
 public:
  Ground(const Comm& comm, std::shared_ptr<const Geometry> geometry) : comm_(comm), geometry_(std::move(geometry)) {}
  Ground(const Comm& comm, Geometry geometry) : Ground(comm, std::make_shared<const Geometry>(std::move(geometry))) {}
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  const Comm& comm() const { return comm_; }
  const Geometry& geometry() const { return *geometry_; }
  std::int64_t id() const { return geometry_->id; }  ///< of no other ground; see Composite::id()

  // Made when first wanted, then kept. The first call is collective; none of them by several threads at once.
  const std::shared_ptr<const CompositeNumbering>& numbering() const;
  const std::shared_ptr<const Composite>& composite() const;
  const std::shared_ptr<const JoinedCells>& joined() const;

 private:
  Comm comm_;
  std::shared_ptr<const Geometry> geometry_;
  mutable std::shared_ptr<const CompositeNumbering> numbering_;
  mutable std::shared_ptr<const Composite> composite_;
  mutable std::shared_ptr<const JoinedCells> joined_;
};

}  // namespace karst
