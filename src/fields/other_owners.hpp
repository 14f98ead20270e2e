// SPDX-License-Identifier: BSD-3-Clause
// States and fields on the same cells whose boxes have other owners: every value is sent to the rank that owns its box
// now. Same bits.
#pragma once

#include <memory>

#include "fields/face_field.hpp"
#include "fields/state.hpp"
#include "grid/box_mail.hpp"

namespace karst {

OtherOwners other_owners(const Geometry& from, const Geometry& to);

/// All of the following are collective and throw the same Error on all ranks where the geometries have other boxes or
/// VoFs.
State with_other_owners(const Comm& comm, const State& state, const Geometry& from, const Geometry& to);
/// One row of numbers per unknown.
std::vector<double> with_other_owners(const Comm& comm, std::span<const double> rows, int components,
                                      const Composite& from, const Composite& to);
FaceField with_other_owners(const FaceField& field, const std::shared_ptr<const Composite>& to);

}  // namespace karst
