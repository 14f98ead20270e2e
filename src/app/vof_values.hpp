// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "eb/geometry.hpp"
#include "solvers/composite_numbering.hpp"

namespace karst {

/// Mean over the VoFs of each cell of an own box; NaN in cells without an unknown (solid, or under a finer level).
/// @param value  of an own unknown of the numbering; NaN: none
/// @param[out] cells  one per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_cells(const Geometry& geometry, const CompositeNumbering& numbering, int level, std::int64_t box,
                std::span<float> cells, const std::function<double(std::size_t unknown)>& value);

}  // namespace karst
