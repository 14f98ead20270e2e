// SPDX-License-Identifier: BSD-3-Clause
// Keys of [geometry.import].
#include <fmt/format.h>

#include <climits>
#include <filesystem>

#include "base/deck/deck.hpp"
#include "base/math/no_number.hpp"
#include "geometry_import/import.hpp"

namespace karst {
namespace {

constexpr double unbounded = 1e300;

void read_optional(Reader& in, const std::string& key, std::optional<double>& value, const char* unit, double min,
                   double max, const char* help) {
  double number = value.value_or(no_number);  // shown as no default
  const bool given = in.given(key);
  in.number(key, number, unit, help, min, max);
  if (given) value = number;
}

void read_type(Reader& in, ImportOptions& o) {
  constexpr const char* key = "geometry.import.type";
  std::vector<Reader::Word<VoxelType>> words;
  for (int t = 0; t < n_voxel_types; ++t)
    words.push_back({name_of(static_cast<VoxelType>(t)), static_cast<VoxelType>(t), ""});
  VoxelType type = o.type.value_or(VoxelType::uint8);
  const bool given = in.given(key);
  in.word(key, type, words, "raw images: type of the voxels");
  if (given) o.type = type;
}

void read_optional_integer(Reader& in, const std::string& key, std::optional<int>& value, const char* unit, int min,
                           int max, const char* help) {
  int number = value.value_or(min - 1);
  const bool given = in.given(key);
  in.integer(key, number, unit, help, min, max);
  if (given) value = number;
}

void read_labels(Reader& in, ImportOptions& o) {
  read_optional(in, "geometry.import.pore", o.pore, "gray value", -unbounded, unbounded,
                "images of two phases: value of the pore space; all other values are solid");
  in.file("geometry.import.labels", o.labels,
          "label images: JSON file with names and values, {\"labels\": {\"pore\": 0, \"quartz\": 1}}");
  if (!o.labels.empty() && !in.documenting() && !in.directory().empty())
    o.labels = (std::filesystem::path(in.directory()) / o.labels).lexically_normal().string();
  in.numbers("geometry.import.label_values", o.label_values, "gray value",
             "label images: the values of the labels in `names`, in the same order", -unbounded, unbounded);
  in.texts(
      "geometry.import.names", o.names,
      "names of label_values, or of the classes of gray values, darkest first; one is \"pore\" (of gray images the "
      "darkest, with pore_above the brightest)");
}

void read_segment(Reader& in, ImportOptions& o) {
  constexpr const char* key = "geometry.import.segment";
  SegmentBy by = o.segment.value_or(SegmentBy::halfway);
  const bool given = in.given(key);
  in.word(key, by,
          {{"halfway", SegmentBy::halfway, "two classes, halfway between their peaks"},
           {"edges", SegmentBy::edges, "two classes, the gray value where it changes most"},
           {"otsu", SegmentBy::otsu, "two classes, Otsu's threshold"},
           {"multi-otsu", SegmentBy::multi_otsu, "several classes: pore and minerals"},
           {"labels", SegmentBy::labels, "the image contains labels: pore, labels or label_values"}},
          "how the image is segmented into phases, unless threshold or thresholds are given");
  if (given) o.segment = by;
}

void read_gray(Reader& in, ImportOptions& o) {
  read_segment(in, o);
  read_optional(in, "geometry.import.threshold", o.threshold, "gray value", -unbounded, unbounded,
                "gray images: gray value of the wall");
  in.numbers("geometry.import.thresholds", o.thresholds, "gray value",
             "gray images: limits between several classes, ascending", -unbounded, unbounded);
  read_optional_integer(in, "geometry.import.classes", o.classes, "-", 2, 5,
                        "multi-otsu: number of classes, pore and solid phases together; default: 3");
  read_optional(in, "geometry.import.seed_threshold", o.seed_threshold, "gray value", -unbounded, unbounded,
                "gray images: voxels beyond this value are pore; voxels between it and the threshold are pore only if "
                "faces connect them to one beyond it");
  bool above = o.pore_above.value_or(false);
  const bool given = in.given("geometry.import.pore_above");
  in.flag("geometry.import.pore_above", above,
          "gray images: the pore has the larger gray values; default: false, the pore is darker (in files that state "
          "that 0 is white: larger)");
  if (given) o.pore_above = above;
}

void read_wall(Reader& in, ImportOptions& o) {
  constexpr const char* key = "geometry.import.wall";
  WallFrom wall = o.wall.value_or(WallFrom::scan);
  const bool given = in.given(key);
  in.word(key, wall,
          {{"scan", WallFrom::scan,
            "fitted such that the blurred image of two phases is the given image; blur and gray values are estimated"},
           {"threshold", WallFrom::threshold, "where the smoothed gray value equals the threshold"}},
          "gray images: method that locates the wall; default: scan, or threshold if threshold, thresholds, segment, "
          "seed_threshold or smoothing are given");
  if (given) o.wall = wall;
}

void read_cleaning(Reader& in, ImportOptions& o) {
  constexpr int most = 1'000'000'000;
  read_optional_integer(
      in, "geometry.import.specks", o.specks, "voxels", 0, most,
      "isolated solid clusters of fewer voxels become pore; default: 8 for gray images, 0 for labels");
  read_optional_integer(
      in, "geometry.import.holes", o.holes, "voxels", 0, most,
      "isolated pore clusters of fewer voxels become solid; default: 8 for gray images, 0 for labels");
  in.word("geometry.import.keep", o.keep,
          {{"all", KeepClusters::all, ""},
           {"connected", KeepClusters::connected, "those that connect two opposite faces along keep_axes"},
           {"largest", KeepClusters::largest, "the cluster with the most voxels"}},
          "which pores are kept; the others become solid");
  in.flags3("geometry.import.keep_axes", o.keep_axes,
            "keep = connected: axes along which a pore must percolate through the image (any of them)");
}

}  // namespace

void read(Reader& in, PrepareOptions& o) {
  const auto key = [](const char* name) { return fmt::format("geometry.import.{}", name); };
  in.index(key("crop_low"), o.crop_low, "voxels", "first voxel to keep, in the axes of the file", 0, INT_MAX);
  in.index(key("crop_high"), o.crop_high, "voxels", "first voxel not kept; 0: up to the end", 0, INT_MAX);
  in.flags3(key("flip"), o.flip, "axes of the file to flip");
  in.word(key("axes"), o.axes,
          {{"xyz", Index{0, 1, 2}, "as they are"},
           {"xzy", Index{0, 2, 1}, ""},
           {"yxz", Index{1, 0, 2}, ""},
           {"yzx", Index{1, 2, 0}, ""},
           {"zxy", Index{2, 0, 1}, ""},
           {"zyx", Index{2, 1, 0}, ""}},
          "axes of the file that become x, y, z");
  in.number(key("resample"), o.resample, "m",
            "new voxel width; default: that of the image, or the smallest one if they differ", 1e-12, 1e3);
  in.flag(key("beam_hardening"), o.beam_hardening,
          "gray images: remove the radial trend of the gray values about the axis (z) of the sample");
  in.word(key("denoise"), o.denoise,
          {{"none", Denoise::none, ""},
           {"median", Denoise::median, "against single outliers"},
           {"gaussian", Denoise::gaussian, "also blurs walls"},
           {"bilateral", Denoise::bilateral, "preserves walls"}},
          "gray images: noise filter, in addition to smoothing");
  read_optional(in, key("denoise_width"), o.width, "voxels", 0.3, 4,
                "radius of the median filter (1 or 2), else standard deviation; default: 1");
  read_optional(
      in, key("denoise_step"), o.step, "gray value", 1e-30, unbounded,
      "bilateral filter: difference of gray values that is treated as a wall; default: 4.5 times the measured noise");
  in.word(key("sample"), o.cylinder,
          {{"image", false, "the whole image"},
           {"cylinder", true,
            "a cylinder along z; the rest becomes solid and is excluded from what the import measures, not from the "
            "cross-section of a run"}},
          "which part of the image is the sample");
  in.numbers(key("sample_center"), o.sample_center, "voxels",
             "x and y of the axis of the cylinder, after cropping and resampling; default: the middle", 0, 1e6);
  read_optional(in, key("sample_radius"), o.sample_radius, "voxels", 1, 1e6,
                "radius of the cylinder, after resampling; default: up to the nearest lateral face of the image");
}

void read(Reader& in, ImportOptions& o) {
  in.index("geometry.import.size", o.size, "voxels", "raw images: voxels in x, y, z (x fastest in the file)", 1,
           INT_MAX);
  read_type(in, o);
  in.word("geometry.import.endian", o.big_endian,
          {{"little", false, "low byte first (usual)"}, {"big", true, "high byte first"}}, "raw images: byte order");
  in.integer("geometry.import.skip_bytes", o.skip_bytes, "bytes", "raw images: header before the voxels", 0, INT_MAX);
  in.number("geometry.import.voxel", o.voxel, "m",
            "voxel width (in x, if the image states others in y and z); required if the image does not state it", 1e-12,
            1e3, {1e-10});
  in.vec3("geometry.import.spacing", o.spacing, "m", "voxel widths in x, y, z, instead of voxel", 1e-12, 1e3, {1e-10});
  read(in, o.prepare);
  read_labels(in, o);
  read_gray(in, o);
  read_wall(in, o);
  read_optional(in, "geometry.import.smoothing", o.smoothing, "voxels", 0, 8,
                "standard deviation of the smoothing; default: 0.5 for gray values and 1 for the staircase of "
                "segmented images (these: up to 3)");
  read_cleaning(in, o);
}

}  // namespace karst
