// SPDX-License-Identifier: BSD-3-Clause
// The charts of a report from what is known of an image.
#pragma once

#include <string>

#include "base/core/text.hpp"
#include "geometry_import/report/report.hpp"
#include "page/svg_chart.hpp"

namespace karst {

/// Share of the voxels by gray value, in the colours of the classes; thresholds marked. Empty bins at both ends are
/// left out, and 0.05 % of the voxels at each; a bin that towers above all others is cut.
Chart histogram_chart(const ReportHistogram& histogram);

/// Bars and the cumulative line; in metres of a fitting unit below, in voxels above.
/// @param what    pores or throats, for the description
/// @param share   of what the bars are shares, for the axis
/// @param bound   a diameter to mark [voxels]; 0: none
Chart size_chart(const SizeDistribution& sizes, double voxel, const std::string& what, const std::string& share,
                 double bound);

/// Porosity of the planes across each axis, and that of the sample.
Chart profile_chart(const ImageStatistics& statistics, double voxel);

/// Correlation of the pore with itself along each axis.
Chart correlation_chart(const ImageStatistics& statistics, double voxel);

}  // namespace karst
