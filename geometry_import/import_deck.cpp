// SPDX-License-Identifier: BSD-3-Clause
// Keys of [geometry.import].
#include <fmt/format.h>

#include <climits>

#include "base/deck.hpp"
#include "geometry_import/import.hpp"

namespace karst {
namespace {

constexpr double unbounded = 1e300;

void read_optional(Reader& in, const std::string& key, std::optional<double>& value, const char* unit, double min,
                   double max, const char* help) {
  double number = value.value_or(0);
  const bool given = in.given(key);
  in.number(key, number, unit, help, min, max);
  if (given) value = number;
}

void read_smoothing(Reader& in, std::optional<double>& value) {
  constexpr const char* key = "geometry.import.smoothing";
  double number = value.value_or(gray_smoothing);
  const bool given = in.given(key);
  in.number(key, number, "voxels",
            "standard deviation of the smoothing; without it 0.5 for gray values and 1 for the distance to the wall of "
            "segmented images",
            0, 8);
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

}  // namespace

void read(Reader& in, PrepareOptions& o) {
  const auto key = [](const char* name) { return fmt::format("geometry.import.{}", name); };
  in.index(key("crop_low"), o.crop_low, "voxels", "first voxel to keep, in the axes of the file", 0, INT_MAX);
  in.index(key("crop_high"), o.crop_high, "voxels", "first voxel beyond those to keep; 0: up to the end", 0, INT_MAX);
  in.flags3(key("flip"), o.flip, "axes of the file to turn round");
  in.word(key("axes"), o.axes,
          {{"xyz", Index{0, 1, 2}, "as they are"},
           {"xzy", Index{0, 2, 1}, ""},
           {"yxz", Index{1, 0, 2}, ""},
           {"yzx", Index{1, 2, 0}, ""},
           {"zxy", Index{2, 0, 1}, ""},
           {"zyx", Index{2, 1, 0}, ""}},
          "axes of the file that become x, y, z");
  in.number(key("resample"), o.resample, "m",
            "new voxel width; without it that of the image, or the smallest one when they differ", 1e-12, 1e3);
  in.flag(key("beam_hardening"), o.beam_hardening,
          "gray images: remove the trend of the gray values with the distance to the axis (z) of the sample");
  in.word(key("denoise"), o.denoise,
          {{"none", Denoise::none, ""},
           {"median", Denoise::median, "single bad voxels"},
           {"gaussian", Denoise::gaussian, "blurs walls too"},
           {"bilateral", Denoise::bilateral, "keeps walls"}},
          "gray images: filter against noise, beyond smoothing");
  read_optional(in, key("denoise_width"), o.width, "voxels", 0.3, 4,
                "radius of the median (1 or 2), else standard deviation; without it 1");
  read_optional(in, key("denoise_step"), o.step, "gray value", 1e-30, unbounded,
                "bilateral filter: difference of gray values that counts as a wall; without it 4.5 times the noise, "
                "which is measured");
  in.word(key("sample"), o.cylinder,
          {{"image", false, "the whole image"},
           {"cylinder", true, "a cylinder along z; the rest becomes solid and is left out of the statistics"}},
          "what of the image is the sample");
  in.numbers(key("sample_center"), o.sample_center, "voxels",
             "x and y of the cylinder's axis, after cropping and resampling; without it the middle", 0, 1e6);
  read_optional(in, key("sample_radius"), o.sample_radius, "voxels", 1, 1e6,
                "radius of the cylinder, after resampling; without it up to the nearest side of the image");
}

void read(Reader& in, ImportOptions& o) {
  in.index("geometry.import.size", o.size, "voxels", "raw images: voxels in x, y, z (x fastest in the file)", 1,
           INT_MAX);
  read_type(in, o);
  in.word("geometry.import.endian", o.big_endian,
          {{"little", false, "low byte first (usual)"}, {"big", true, "high byte first"}},
          "raw images: order of the bytes of a voxel");
  in.integer("geometry.import.skip_bytes", o.skip_bytes, "bytes", "raw images: header in front of the voxels", 0,
             INT_MAX);
  in.number("geometry.import.voxel", o.voxel, "m",
            "voxel width (in x, when the image has others in y and z); needed when the image does not state it", 1e-12,
            1e3);
  in.vec3("geometry.import.spacing", o.spacing, "m", "voxel widths in x, y, z, instead of voxel", 1e-12, 1e3);
  read(in, o.prepare);
  read_optional(in, "geometry.import.pore", o.pore, "gray value", -unbounded, unbounded,
                "segmented images: the value of the pore space");
  read_optional(in, "geometry.import.threshold", o.threshold, "gray value", -unbounded, unbounded,
                "gray images: gray value of the wall; without it halfway between the peaks of the two classes that "
                "Otsu's method finds");
  in.flag("geometry.import.pore_above", o.pore_above, "gray images: the pore is where the gray value is larger");
  read_smoothing(in, o.smoothing);
}

}  // namespace karst
