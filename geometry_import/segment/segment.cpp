// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/segment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "geometry_import/segment/edge_threshold.hpp"
#include "geometry_import/segment/fit_check.hpp"
#include "geometry_import/segment/gray_pass.hpp"
#include "geometry_import/segment/threshold_trust.hpp"

namespace karst {
namespace {

constexpr std::size_t most_limits = 31;
constexpr std::int64_t few_values = 32;  // an image of so few integers may hold labels
/// How far the wall of labels may plausibly lie off [voxels]: holds the area of a circle whose voxels are counted in 19
/// of 20 places, radius 2 to 10 voxels, and the permeability of tubes and packings (decision 013).
constexpr double wall_of_labels = 0.1;
constexpr double moved_share = 0.05;  // of the contrast, and of the porosity

/// Names by label. Throws Error unless the names suit the classes.
/// @param white_is_zero  the darkest class is that of the largest values
std::vector<std::string> class_names(const GrayClasses& classes, const ImportOptions& options, bool white_is_zero) {
  const std::size_t n = classes.limits.size() + 1;
  std::vector<std::string> by_class = options.names;
  if (white_is_zero) std::reverse(by_class.begin(), by_class.end());
  if (by_class.empty()) {
    for (std::size_t c = 0, solid = 1; c < n; ++c)
      by_class.push_back(c == classes.pore() ? "pore" : n == 2 ? "solid" : fmt::format("solid {}", solid++));
  }
  require(by_class.size() == n,
          "{}: `names` has {} names for {} classes of gray values; give one for each, the darkest first", options.file,
          by_class.size(), n);
  for (std::size_t c = 0; c < n; ++c) {
    require(!by_class[c].empty() && std::count(by_class.begin(), by_class.end(), by_class[c]) == 1,
            "{}: `names` contains \"{}\" {}; each class needs a different name", options.file, by_class[c],
            by_class[c].empty() ? "(empty)" : "twice");
    const bool is_pore = by_class[c] == "pore";
    require(is_pore == (c == classes.pore()),
            "{}: `names` gives class {} of {} (the darkest is 1) the name \"{}\", but the pore is the {} class{}: give "
            "the name \"pore\" to that class only",
            options.file, white_is_zero ? n - c : c + 1, n, by_class[c],
            classes.pore_above != white_is_zero ? "brightest" : "darkest",
            classes.pore_above ? "" : " (with `pore_above = true` the brightest)");
  }
  std::vector<std::string> by_label(n);
  for (std::size_t c = 0; c < n; ++c) by_label[classes.label(c)] = by_class[c];
  return by_label;
}

/// Smallest and largest value of the sample. Reads the image.
void find_range(const ImageLayers& image, SegmentReport& report) {
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  image.for_own([&](const ImageWindow& layer) {
    Array<float> values = image.read(layer);
    for (const float v : image.sample().values_inside(values.span())) {
      smallest = std::min(smallest, double{v});
      largest = std::max(largest, double{v});
    }
  });
  report.smallest = image.comm().min(smallest);
  report.largest = image.comm().max(largest);
}

void count_values(const ImageLayers& image, Histogram& histogram) {
  image.for_own([&](const ImageWindow& layer) {
    Array<float> values = image.read(layer);
    histogram.add(image.sample().values_inside(values.span()));
  });
  image.comm().sum(std::span(histogram.count));
}

/// Histogram of an image of 8 or 16 bit in one reading: over all values of the type, then those that there are.
Histogram histogram_of_integers(const ImageLayers& image, SegmentReport& report) {
  const VoxelType type = image.info().type;
  const double numbers = bytes_of(type) == 1 ? 256 : 65536;
  const double least = type == VoxelType::int8 || type == VoxelType::int16 ? -numbers / 2 : 0;
  Histogram all = histogram_for(least, least + numbers - 1, GrayValues::integers);
  count_values(image, all);
  const auto filled = [](std::int64_t n) { return n > 0; };
  const auto first = std::find_if(all.count.begin(), all.count.end(), filled);
  const auto last = std::find_if(all.count.rbegin(), all.count.rend(), filled).base();
  report.smallest = least + static_cast<double>(first - all.count.begin());
  report.largest = least + static_cast<double>(last - all.count.begin()) - 1;
  return {report.smallest - 0.5, report.largest + 0.5, {first, last}};
}

const char* name_of(SegmentBy method) {
  if (method == SegmentBy::edges) return "edge threshold";
  if (method == SegmentBy::otsu) return "Otsu threshold";
  return method == SegmentBy::multi_otsu ? "multi-Otsu classes" : "halfway threshold";
}

std::vector<double> find_limits(const ImageLayers& image, const Histogram& histogram, const ImportOptions& options,
                                SegmentReport& report) {
  const SegmentBy method = options.segment.value_or(SegmentBy::halfway);
  report.segmentation = name_of(method);
  const double middle = (report.smallest + report.largest) / 2, all = histogram.below(histogram.high);
  require(
      histogram.filled() > 2,
      "{}: contains only the values {} ({:.2f} % of the voxels) and {} ({:.2f} %), so it is already segmented; give "
      "the value of the pore space, `pore = {}` or `pore = {}`{}",
      options.file, report.smallest, 100 * histogram.below(middle) / all, report.largest,
      100 - 100 * histogram.below(middle) / all, report.smallest, report.largest, labels_hint(options.file));
  if (histogram.filled() <= few_values && is_integer(report.type))
    report.warnings.push_back(
        fmt::format("the image has only {} different values; if they are labels and not gray values, give their names: "
                    "`label_values` with `names`, or `labels = FILE.json`{}",
                    histogram.filled(), labels_hint(options.file)));
  if (method == SegmentBy::edges) return {edge_threshold(image, histogram)};
  if (method == SegmentBy::halfway) return {halfway_threshold(histogram)};
  if (method == SegmentBy::otsu) return {otsu_threshold(histogram)};
  return multi_otsu(histogram, options.classes.value_or(3));
}

/// Range, histogram where it is needed or costs nothing, class limits.
GrayClasses find_classes(const ImageLayers& image, const ImportOptions& options, SegmentReport& report,
                         Histogram& histogram) {
  const bool given = options.threshold || !options.thresholds.empty();
  const bool small = is_integer(image.info().type) && bytes_of(image.info().type) <= 2;
  if (small) {
    histogram = histogram_of_integers(image, report);
  } else {
    find_range(image, report);
  }
  require(report.smallest < report.largest, "{}: all voxels have the value {}; there is nothing to segment",
          options.file, report.smallest);
  if (!small && !given) {
    histogram = histogram_for(report.smallest, report.largest, gray_values_of(image.info().type));
    count_values(image, histogram);
  }
  GrayClasses classes;
  classes.pore_above = options.pore_above.value_or(image.info().black.has_value());
  report.segmentation = options.threshold ? "threshold" : "thresholds";
  classes.limits = options.threshold ? std::vector{*options.threshold}
                   : given           ? options.thresholds
                                     : find_limits(image, histogram, options, report);
  require(classes.limits.size() <= most_limits, "{}: {} thresholds given; allowed are 1 to {}", options.file,
          classes.limits.size(), most_limits);
  const double wall = classes.wall(), seed = options.seed_threshold.value_or(wall);
  require(!options.seed_threshold || (classes.pore_above ? seed > wall : seed < wall),
          "{}: `seed_threshold = {}` lies on the solid side of the wall, which is at {}: it must be {}, so that voxels "
          "beyond it are certainly pore",
          options.file, seed, wall, classes.pore_above ? "larger" : "smaller");
  return classes;
}

/// Peaks, contrast and histogram.
void tell_histogram(const GrayClasses& classes, const Histogram& histogram, SegmentReport& report) {
  report.peaks = class_peaks(histogram, classes.limits);
  report.contrast = std::abs(report.peaks[classes.pore()] - report.peaks[classes.beside_pore()]);
  report.histogram = histogram.reduced(256);
}

/// How porosity moves with the threshold, and what smoothing does to it. A fitted wall is held to the threshold's, so
/// the warning concerns it, too.
void tell_range(const GrayPass& pass, const GrayClasses& classes, SegmentReport& report) {
  if (!std::isfinite(report.contrast)) return;
  const double wall = classes.wall(), step = moved_share * report.contrast, now = pass.pore_share(wall);
  const double down = pass.pore_share(wall - step), up = pass.pore_share(wall + step);
  report.uncleaned_share = now;
  report.porosity_low = std::min(down, up);
  report.porosity_high = std::max(down, up);
  if (!report.scan) report.moved_wall = step / report.gradient;
  const double most = std::max(report.porosity_high - now, now - report.porosity_low);
  if (!(most > moved_share * now)) return;
  report.warnings.push_back(
      fmt::format("the porosity depends on the threshold: it is between {:.4f} and {:.4f} when the threshold changes "
                  "by 5 % of the contrast ({:.4g}) in either direction",
                  report.porosity_low, report.porosity_high, step));
}

/// In front of the other warnings: whether one gray value parts the phases at all, where nobody gave it.
void tell_of_trust(const GrayPass& pass, const GrayClasses& classes, const ImportOptions& options,
                   SegmentReport& report) {
  constexpr double peak_width = 0.03;  // of the contrast
  if (classes.limits.size() != 1 || options.threshold || !options.thresholds.empty()) return;
  if (!std::isfinite(report.contrast) || options.seed_threshold) return;
  const ThresholdEvidence evidence{classes.wall(),
                                   report.peaks[classes.pore()],
                                   report.peaks[classes.beside_pore()],
                                   pass.noise().of(inner_pore),
                                   pass.noise().of(inner_solid),
                                   histogram_peaks(pass.smoothed(), peak_width * report.contrast)};
  std::string text = distrust(evidence);
  if (!text.empty() && report.scan) text += ". The fitted wall depends only on the blur and the two gray values";
  if (text.empty() && !report.scan) text = several_phases(evidence);
  if (!text.empty()) report.warnings.insert(report.warnings.begin(), text);
}

/// Labels of a fitted wall, unless something speaks against it and nobody insists.
std::optional<Segmentation> fitted_segmentation(const ImageLayers& image, const ImportOptions& options,
                                                const FitStart& start, const std::vector<std::string>& names,
                                                SegmentReport& report) {
  std::optional<FittedWall> wall = fit_wall(image, start, report.smoothing);
  std::string reason = "no wall between two phases reproduces this image";
  if (wall) {
    Slabs<std::uint8_t> labels = fitted_labels(image, *wall);
    keep_clusters(image.comm(), start.labels, labels);
    const auto faces = [&](const Slabs<std::uint8_t>& of) {
      return static_cast<double>(count_wall_faces(image.comm(), of));
    };
    const std::size_t pore = start.scale.pore_above ? 1 : 0;
    reason =
        reason_against(wall->scan, report.peaks[pore], report.peaks[1 - pore], faces(labels) / faces(start.labels));
    if (reason.empty() || options.wall) {
      report.scan = wall->scan;
      report.moved_wall = moved_wall(wall->scan, moved_share);
      if (!reason.empty()) report.warnings.push_back("the fitted wall is doubtful: " + reason);
      return Segmentation{std::move(labels), names, true, start.scale, std::move(wall)};
    }
  }
  require(!options.wall,
          "{}: {} (`wall = scan`); use `wall = threshold`, which places the wall at the gray value {:.6g}",
          options.file, reason, start.scale.threshold);
  report.warnings.push_back(fmt::format(
      "the wall was placed at the threshold of {:.6g} and not fitted to the image (`wall = scan`), because {}",
      start.scale.threshold, reason));
  return {};
}

Segmentation segment_gray(const ImageLayers& image, const ImportOptions& options, SegmentReport& report,
                          ReportPictures* pictures) {
  Histogram histogram;
  const GrayClasses classes = find_classes(image, options, report, histogram);
  const std::vector<std::string> names = class_names(classes, options, image.info().black.has_value());
  report.thresholds = classes.limits;
  report.threshold = classes.wall();
  report.pore_above = classes.pore_above;
  report.seed_threshold = options.seed_threshold.value_or(no_number);
  GrayPass pass(image, classes, options, report, pictures);
  Slabs<std::uint8_t> labels = pass.run(histogram);
  report.gradient = pass.gradient();
  tell_histogram(classes, histogram, report);
  const GrayScale scale{classes.wall(), report.gradient, classes.pore_above};
  std::optional<Segmentation> fitted;
  if (is_fitted(options)) fitted = fitted_segmentation(image, options, {scale, labels}, names, report);
  tell_range(pass, classes, report);
  tell_of_trust(pass, classes, options, report);
  if (fitted) return std::move(*fitted);
  Segmentation s{std::move(labels), names, true, scale, {}};
  if (options.seed_threshold)
    report.seeds = grow_seeds(image.comm(), s.labels, candidate_label, classes.label(classes.beside_pore()));
  if (classes.limits.size() > 1) report.rim_voxels = correct_rim(image.comm(), s.labels);
  return s;
}

LabelMap label_map(const ImportOptions& o) {
  if (o.pore) return LabelMap::of_pore(*o.pore);
  if (!o.labels.empty()) return LabelMap(read_label_names(o.labels));
  std::vector<NamedValue> values;
  for (std::size_t n = 0; n < o.label_values.size(); ++n) values.push_back({o.names[n], o.label_values[n]});
  return LabelMap(values);
}

/// A sample of one phase alone is a result, but not where `pore` names a value that a file of several does not have.
void tell_of_one_phase(const ImportOptions& options, SegmentReport& report, double pore, double sample_voxels) {
  if (pore > 0 && pore < sample_voxels) return;
  require(pore > 0 || !options.pore || report.smallest == report.largest,
          "{}: no voxel has the value `pore = {}` (values are from {} to {})", options.file, report.pore,
          report.smallest, report.largest);
  report.warnings.push_back(
      pore > 0
          ? fmt::format("every voxel has the value of the pore space, {}: the sample has no wall", report.pore)
          : fmt::format("no voxel has the value of the pore space, {} (values are from {} to {}): the sample is solid",
                        report.pore, report.smallest, report.largest));
}

/// One value is pore, but there are many, below it and above: gray values, not numbers of grains.
void tell_of_gray_values(std::size_t values, double share, const ImportOptions& options, SegmentReport& report) {
  const double pore = *options.pore;
  if (values < LabelTally::most_values || !(report.smallest < pore && pore < report.largest)) return;
  report.warnings.push_back(fmt::format(
      "the image has {} different values or more, from {:g} to {:g}, as gray images have, and only voxels of exactly "
      "{:g} "
      "became pore, {:.2g} % of them: leave `pore` out for a threshold between the gray values of pore and solid, or "
      "give `threshold`",
      values, report.smallest, report.largest, pore, 100.0 * share));
}

/// One value is pore, but the others are several: minerals, perhaps, or solids with pores of their own.
void tell_of_minerals(const std::set<float>& values, const ImportOptions& options, SegmentReport& report) {
  if (values.size() < 3 || values.size() >= LabelTally::most_values) return;
  std::vector<std::string> listed;
  for (const float v : values) listed.push_back(fmt::format("{}", v));
  report.warnings.push_back(fmt::format(
      "the image has the values {}, and all except {} became one solid phase; if they are minerals, give their names: "
      "`label_values = [{}]` with `names = [\"pore\", ...]` instead of `pore`, or `labels = FILE.json`{}",
      join(listed), *options.pore, join(listed), labels_hint(options.file)));
}

Segmentation segment_labels(const ImageLayers& image, const ImportOptions& options, SegmentReport& report) {
  const Comm& comm = image.comm();
  LabelMap map = LabelMap::of_pore(0);
  fail_together(comm, [&] { map = label_map(options); });
  report.segmentation = options.pore ? "pore value" : "named labels";
  report.pore = map.pore();
  Segmentation s{Slabs<std::uint8_t>(comm, image.voxels(), Purpose::geometry), map.names(), false, {}, {}};
  LabelTally mine;
  image.for_rounds([&](int, const ImageWindow& layer) {
    Array<std::uint8_t> of_layer(layer.count(), Purpose::buffers);
    fail_together(comm, [&] {
      const Array<float> values = image.read(layer);
      label_values(map, layer, values.span(), image.sample().inside(), of_layer.span(), mine);
      image.sample().mark(layer, of_layer.span());
    });
    s.labels.store(layer, of_layer.span());
  });
  const LabelTally tally = mine.over_ranks(comm);
  report.smallest = tally.smallest;
  report.largest = tally.largest;
  require_known(tally, map, image.voxels(), options.file);
  const double pore = label_volumes(comm, s.labels, {})[pore_label];
  tell_of_one_phase(options, report, pore, image.sample_voxels());
  if (map.others_are_solid()) {
    tell_of_gray_values(tally.values.size(), pore / image.sample_voxels(), options, report);
    tell_of_minerals(tally.values, options, report);
  }
  return s;
}

}  // namespace

std::optional<double> pore_of_labels(const ImportOptions& options) {
  if (!is_segmented(options)) return {};
  return label_map(options).pore();
}

Segmentation segment(const ImageLayers& image, const ImportOptions& options, SegmentReport& report,
                     ReportPictures* pictures) {
  const double none = no_number;
  report.threshold = report.pore = report.seed_threshold = none;
  report.contrast = report.porosity_low = report.porosity_high = report.moved_wall = none;
  report.smoothing = smoothing_of(options);
  if (!is_segmented(options)) return segment_gray(image, options, report, pictures);
  report.moved_wall = wall_of_labels;
  return segment_labels(image, options, report);
}

}  // namespace karst
