// SPDX-License-Identifier: BSD-3-Clause
// Slices as pictures, and the colours of a report.
#pragma once

#include "geometry_import/voxels/report_pictures.hpp"

namespace karst {

inline constexpr Rgb changed_colour{213, 0, 80}, wall_colour{255, 120, 0}, outside_colour{238, 240, 242};

/// Of the pore (0), of solid phases (1 to 254, in turn) and of what is outside of the sample (255). Neighbours in
/// lightness and hue that remain apart for colour-blind readers (Okabe & Ito's set, made paler).
Rgb label_colour(int label);

/// One gray value per pixel of the slice; empty when the slice has none.
Picture gray_picture(const ImageSlice& slice);
/// Labels in their colours, changed pixels in changed_colour; empty when the slice has none.
Picture label_picture(const ImageSlice& slice);
/// The zero line of φ, bilinear between pixel centres as a cutter sees it, on clear ground; in whole multiples of the
/// pixels of the slice, up to about 640. Empty when the slice has no φ.
Picture wall_picture(const ImageSlice& slice);

}  // namespace karst
