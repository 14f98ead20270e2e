// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/segment/segment.hpp"

namespace karst {
namespace {

/// Options that are set, of those that need one kind of image.
std::vector<std::string> given_for_gray(const ImportOptions& o) {
  std::vector<std::string> given;
  const auto add = [&](bool is, const char* name) {
    if (is) given.emplace_back(name);
  };
  add(o.threshold.has_value(), "threshold");
  add(!o.thresholds.empty(), "thresholds");
  add(o.seed_threshold.has_value(), "seed_threshold");
  add(o.classes.has_value(), "classes");
  add(o.pore_above.value_or(false), "pore_above");
  add(o.segment && *o.segment != SegmentBy::labels, "segment");
  add(o.wall.has_value(), "wall");
  return given;
}

std::vector<std::string> given_for_labels(const ImportOptions& o) {
  std::vector<std::string> given;
  if (o.pore) given.emplace_back("pore");
  if (!o.labels.empty()) given.emplace_back("labels");
  if (!o.label_values.empty()) given.emplace_back("label_values");
  return given;
}

void check_labels(const ImportOptions& o, const std::vector<std::string>& given, Messages& m) {
  m.need(given.size() == 1, "{}: `{}` given; only one of them is allowed", o.file, join(given, "` and `"));
  m.need(!o.pore || std::abs(*o.pore) < 16777216.0, "{}: `pore = {}` given; it must be below 2^24", o.file,
         o.pore.value_or(0));
  if (!o.label_values.empty())
    m.need(o.label_values.size() == o.names.size(),
           "{}: `label_values` holds {} values and `names` {}; each value needs a name, such as `label_values = [0, 1, "
           "2]` with `names = [\"pore\", \"quartz\", \"calcite\"]`",
           o.file, o.label_values.size(), o.names.size());
  if (o.label_values.empty())
    m.need(o.names.empty(),
           "{}: `names` given with `{}`; it applies to `label_values`, or to the classes of a gray image", o.file,
           given[0]);
}

void check_gray(const ImportOptions& o, Messages& m) {
  const bool limits = o.threshold || !o.thresholds.empty();
  m.need(!(o.threshold && !o.thresholds.empty()), "{}: `threshold` and `thresholds` given; only one of them is allowed",
         o.file);
  m.need(!(o.segment && limits),
         "{}: `segment` and `{}` given; `segment` determines the gray value of the wall, `{}` prescribes it: remove "
         "one of them",
         o.file, o.threshold ? "threshold" : "thresholds", o.threshold ? "threshold" : "thresholds");
  m.need(o.segment != SegmentBy::labels,
         "{}: `segment = labels` needs the names of the values: `pore = VALUE` for two phases, `label_values` with "
         "`names`, or `labels = FILE.json`{}",
         o.file, labels_hint(o.file));
  m.need(!o.classes || o.segment == SegmentBy::multi_otsu,
         "{}: `classes = {}` given; it requires `segment = multi-otsu`", o.file, o.classes.value_or(0));
  m.need(!o.classes || (*o.classes >= 2 && *o.classes <= 5), "{}: `classes = {}` given; allowed are 2 to 5", o.file,
         o.classes.value_or(0));
  for (std::size_t t = 1; t < o.thresholds.size(); ++t)
    m.need(o.thresholds[t - 1] < o.thresholds[t],
           "{}: `thresholds = [..., {}, {}, ...]` given; they must be in ascending order", o.file, o.thresholds[t - 1],
           o.thresholds[t]);
  m.need(o.thresholds.size() <= most_solids, "{}: {} thresholds given; allowed are 1 to {}", o.file,
         o.thresholds.size(), most_solids);
}

/// wall = scan goes with two phases, and with little smoothing.
void check_wall(const ImportOptions& o, Messages& m) {
  if (o.wall != WallFrom::scan) return;
  const bool several = o.segment == SegmentBy::multi_otsu || o.thresholds.size() > 1;
  m.need(!several && !o.seed_threshold,
         "{}: `wall = scan` and {} given; the fit supports two phases without seeds only: use `wall = threshold`",
         o.file,
         o.seed_threshold                     ? "`seed_threshold`"
         : o.segment == SegmentBy::multi_otsu ? "`segment = multi-otsu`"
                                              : "several thresholds");
  m.need(o.smoothing.value_or(0) <= most_fitted_smoothing,
         "{}: `smoothing = {}` (voxels) given with `wall = scan`; allowed are 0 to {}", o.file, o.smoothing.value_or(0),
         most_fitted_smoothing);
}

}  // namespace

bool is_fitted(const ImportOptions& o) {
  const bool said = o.threshold || !o.thresholds.empty() || o.segment || o.seed_threshold || o.smoothing;
  return !is_segmented(o) && o.wall.value_or(said ? WallFrom::threshold : WallFrom::scan) == WallFrom::scan;
}

bool is_segmented(const ImportOptions& o) { return !given_for_labels(o).empty(); }

double smoothing_of(const ImportOptions& o) {
  return o.smoothing.value_or(is_segmented(o) ? segmented_smoothing : gray_smoothing);
}

std::string labels_hint(const std::string& image) {
  const std::string beside = image + ".json";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(beside, ignored)) return "";
  return fmt::format(" (next to it is {}: if it contains the names, use `labels = {}`)", beside, beside);
}

void check_segmentation(const ImportOptions& o, Messages& m) {
  const std::vector<std::string> labels = given_for_labels(o), gray = given_for_gray(o);
  if (!labels.empty() && !gray.empty())
    m.need(false, "{}: `{}` and `{}` given; `{}` is for segmented images, `{}` is for gray ones", o.file, labels[0],
           gray[0], labels[0], gray[0]);
  if (labels.empty()) {
    check_gray(o, m);
    check_wall(o, m);
  } else {
    check_labels(o, labels, m);
  }
  const double smoothing = o.smoothing.value_or(0);
  const double most = is_segmented(o) ? most_segmented_smoothing : 8;
  m.need(smoothing >= 0 && smoothing <= most, "`smoothing = {}` (voxels) given; allowed are 0 to {}{}", smoothing, most,
         is_segmented(o) ? " (labels)" : "");
  const bool axes = o.keep_axes[0] || o.keep_axes[1] || o.keep_axes[2];
  m.need(axes || o.keep != KeepClusters::connected,
         "`keep = connected` needs `keep_axes`: for example, `keep_axes = [true, false, false]` keeps pores that "
         "connect the two faces across x");
  m.need(!axes || o.keep == KeepClusters::connected, "`keep_axes` given; it requires `keep = connected`");
}

}  // namespace karst
