// SPDX-License-Identifier: BSD-3-Clause
// The report of an import: one HTML file that needs nothing else, to be looked at and printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/pores/image_statistics.hpp"
#include "geometry_import/prepare/prepare.hpp"
#include "geometry_import/voxels/histogram.hpp"
#include "geometry_import/voxels/report_pictures.hpp"

namespace karst {

/// A gray image's values and what parts them.
struct ReportHistogram {
  Histogram histogram;
  std::vector<double> thresholds;          ///< ascending [gray values]
  std::vector<std::string> classes;        ///< one more than thresholds, from dark to bright
  std::vector<int> labels;                 ///< of the classes, for their colours
  std::optional<double> seed_threshold{};  ///< pore for sure beyond it [gray value]
  std::string note{};                      ///< how much hangs on the thresholds
};

struct CleaningRow {
  std::string what;
  std::int64_t clusters = 0, voxels = 0;
};

struct ReportPage {
  std::string title;   ///< name of the image
  std::string source;  ///< format, type, what was done to it: one line
  Index voxels;
  double voxel = 0;                      ///< [m]
  double level_set_porosity = 0;         ///< of the smooth wall
  double sample_share = 1;               ///< of the voxels
  std::optional<SampleCylinder> sample;  ///< none: all voxels
  ImageStatistics statistics;
  std::optional<ReportHistogram> histogram;  ///< none: the image was segmented
  PictureData pictures;
  std::vector<CleaningRow> cleaning;
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> made;  ///< how: segmentation, program, time, memory
  std::string options;                                    ///< all options and their values, as lines of text
};

/// The page; needs title, voxels and voxel, bears anything else missing. Every text is escaped. On rank 0, as only it
/// has pictures; not collective.
std::string html(const ReportPage& page);

/// Writes the page of rank 0, whole or not at all. Throws the same Error on all ranks. Collective.
void write_report(const Comm& comm, const std::string& path, const ReportPage& page);

}  // namespace karst
