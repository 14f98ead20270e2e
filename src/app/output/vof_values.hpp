// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fields/joined_cells.hpp"

namespace karst {

/// Mean over the VoFs of each cell of an own box, or over the homes of its fluid where no VoF stands; NaN in cells
/// without an unknown (solid, or under a finer level).
/// @param value  of an own unknown of the numbering, or of one that JoinedCells::remote() puts behind them; NaN: none
/// @param[out] cells  one per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_cells(const JoinedCells& joined, int level, std::int64_t box, std::span<float> cells,
                const std::function<double(std::size_t unknown)>& value);

}  // namespace karst
