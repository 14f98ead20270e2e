// SPDX-License-Identifier: BSD-3-Clause
// Grounds of geometries that a test makes.
#pragma once

#include "fields/ground.hpp"

namespace karst::test {

inline std::shared_ptr<const Ground> ground_on(const Comm& comm, Geometry&& geometry) {
  return std::make_shared<const Ground>(comm, std::move(geometry));
}
inline std::shared_ptr<const Composite> composite_on(const Comm& comm, Geometry&& geometry) {
  return ground_on(comm, std::move(geometry))->composite();
}

/// Of a geometry that the test keeps, which must outlive them: it cannot be copied.
inline std::shared_ptr<const Ground> ground_on(const Comm& comm, const Geometry& geometry) {
  return std::make_shared<const Ground>(comm, std::shared_ptr<const Geometry>(std::shared_ptr<void>{}, &geometry));
}
inline std::shared_ptr<const Composite> composite_on(const Comm& comm, const Geometry& geometry) {
  return ground_on(comm, geometry)->composite();
}

}  // namespace karst::test
