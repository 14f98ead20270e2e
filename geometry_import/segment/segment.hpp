// SPDX-License-Identifier: BSD-3-Clause
// Segmentation: which voxel is pore, which is which solid phase. Of gray images by class limits, given or found in the
// histogram; of label images by the names of their values.
#pragma once

#include <optional>

#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/segment/import_options.hpp"
#include "geometry_import/segment/labels.hpp"
#include "geometry_import/segment/segment_report.hpp"
#include "geometry_import/voxels/report_pictures.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "geometry_import/wall/segmentation.hpp"

namespace karst {

struct Messages;

/// Notes options that contradict each other, or ask for what this kind of image does not have. Not collective.
void check_segmentation(const ImportOptions& options, Messages& mistakes);

/// The image holds labels: pore, labels or label_values is given.
bool is_segmented(const ImportOptions& options);
/// The value of the pore space in an image of labels; none in a gray one. Throws Error: LabelMap. Not collective.
std::optional<double> pore_of_labels(const ImportOptions& options);

/// Segments the image and tells about it in the report: values, thresholds, histogram, how porosity depends on the
/// threshold. Gray images: the gray value is smoothed first, as for the level set, so that the signs agree. Reads the
/// image two to four times (gray), once (labels). Collective.
/// @param pictures  takes the gray values; nullptr: nobody wants them
Segmentation segment(const ImageLayers& image, const ImportOptions& options, SegmentReport& report,
                     ReportPictures* pictures = nullptr);

/// The wall of this image is fitted: it has two phases, and either `wall` says so or nothing was said of the threshold.
bool is_fitted(const ImportOptions& options);

/// Smoothing of the options, or the default of the kind of image. [voxels]
double smoothing_of(const ImportOptions& options);

/// " (beside the image lies X.json: labels = X.json reads names of labels from it)" when there is such a file.
std::string labels_hint(const std::string& image);

}  // namespace karst
