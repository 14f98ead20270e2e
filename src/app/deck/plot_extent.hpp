// SPDX-License-Identifier: BSD-3-Clause
// What of the domain plotfiles hold, and in cells of which size: output.region_lo, output.region_hi, output.coarsening.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deck/config.hpp"

namespace karst {

/// The region of the deck in cells of level 0 of the domain, within the domain, widened to whole boxes of plotfiles;
/// none: the whole domain. Empty where it lies outside.
/// @param grid        of the domain
/// @param sample_low  the low corner of the sample, from which places of the deck count [cells]
std::optional<Box> plotted_region(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low);

/// What is wrong with region and coarsening on this domain. Likewise.
Messages plot_mistakes(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low);

/// Cells of plotfiles over those of the grid, where fluid is everywhere alike. Likewise.
double plotted_part(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low);

}  // namespace karst
