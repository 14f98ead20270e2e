// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/image_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <filesystem>

#include "base/core/error.hpp"
#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

struct TypeFacts {
  std::string_view name;
  int bytes;
  bool integer;
};
constexpr std::array<TypeFacts, n_voxel_types> types{{{"uint8", 1, true},
                                                      {"int8", 1, true},
                                                      {"uint16", 2, true},
                                                      {"int16", 2, true},
                                                      {"uint32", 4, true},
                                                      {"int32", 4, true},
                                                      {"uint64", 8, true},
                                                      {"int64", 8, true},
                                                      {"float32", 4, false},
                                                      {"float64", 8, false}}};

const TypeFacts& facts(VoxelType t) { return types[static_cast<std::size_t>(t)]; }

template <class T>
void convert(const void* native, std::span<float> values) {
  const T* from = static_cast<const T*>(native);
  std::transform(from, from + values.size(), values.begin(), [](T v) { return static_cast<float>(v); });
}

}  // namespace

std::string_view name_of(VoxelType t) { return facts(t).name; }
int bytes_of(VoxelType t) { return facts(t).bytes; }
bool is_integer(VoxelType t) { return facts(t).integer; }

VoxelType voxel_type_named(std::string_view name) {
  std::string all;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (types[t].name == name) return static_cast<VoxelType>(t);
    all += (t > 0 ? ", " : "") + std::string(types[t].name);
  }
  throw Error(fmt::format("voxel type \"{}\" is unknown; there are {}", name, all));
}

void ImageFile::read_plane(int z, std::span<float> values) {
  assert(z >= 0 && z < info_.size[2]);
  assert(std::ssize(values) == std::int64_t{info_.size[0]} * info_.size[1]);
  load_plane(z, values);
  if (is_integer(info_.type)) return;
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const auto n = bad - values.begin();
  throw Error(
      fmt::format("{}: voxel ({}, {}, {}) has the value {}; all values must be finite, replace it before the "
                  "import",
                  info_.path, n % info_.size[0], n / info_.size[0], z, *bad));
}

void to_float(const void* native, VoxelType type, std::span<float> values) {
  switch (type) {
    case VoxelType::uint8:
      return convert<std::uint8_t>(native, values);
    case VoxelType::int8:
      return convert<std::int8_t>(native, values);
    case VoxelType::uint16:
      return convert<std::uint16_t>(native, values);
    case VoxelType::int16:
      return convert<std::int16_t>(native, values);
    case VoxelType::uint32:
      return convert<std::uint32_t>(native, values);
    case VoxelType::int32:
      return convert<std::int32_t>(native, values);
    case VoxelType::uint64:
      return convert<std::uint64_t>(native, values);
    case VoxelType::int64:
      return convert<std::int64_t>(native, values);
    case VoxelType::float32:
      return convert<float>(native, values);
    case VoxelType::float64:
      return convert<double>(native, values);
  }
}

bool ImageInfo::cubic() const {
  const auto [low, high] = std::minmax({proportions[0], proportions[1], proportions[2]});
  return high <= 1.001 * low;
}

void set_spacing(ImageInfo& info, const Vec3& stated, double unit) {
  constexpr double most =
      20;  // of the largest width over the smallest; slices of scans are up to ten times as far apart
  Vec3 w;
  for (int d = 0; d < 3; ++d) w[d] = std::abs(stated[d]);
  const bool sizes = w[0] > 0 && w[1] > 0 && w[2] > 0 && std::isfinite(w[0] + w[1] + w[2]);
  require(sizes, "{}: its voxel widths are {} x {} x {}; they must be finite and not 0", info.path, stated[0],
          stated[1], stated[2]);
  info.proportions = w * (1 / w[0]);
  const bool known = unit > 0 && w != Vec3::all(1);  // 1 x 1 x 1 is what programs write that know nothing
  if (known) {
    info.spacing = w * unit;
    if (info.cubic()) info.voxel = w[0] * unit;
  } else {
    info.voxel_note = fmt::format("its spacing {} x {} x {} has no unit", w[0], w[1], w[2]);
  }
  const auto [low, high] = std::minmax({w[0], w[1], w[2]});
  if (high > most * low)
    info.width_doubt = fmt::format("its voxels are {:.6g} x {:.6g} x {:.6g}{}, {:.3g} times as long as wide",
                                   w[0] * (known ? unit : 1), w[1] * (known ? unit : 1), w[2] * (known ? unit : 1),
                                   known ? " m" : " (no unit)", high / low);
}

void set_resolution(ImageInfo& info, const Vec3& widths) {
  constexpr double printing = 0.0254 / 1200;
  if (widths[0] >= 0.999 * printing) {
    info.voxel_note = fmt::format(
        "with its resolution the image would be {:.4g} m wide, which looks like a resolution for printing", widths[0]);
  } else {
    set_spacing(info, widths, 1);
  }
}

void set_palette(ImageInfo& info, std::span<const std::array<int, 3>> palette) {
  bool gray = true, up = true, down = true;
  for (std::size_t n = 0; n < palette.size(); ++n) {
    const auto& [red, green, blue] = palette[n];
    gray = gray && red == green && green == blue;
    up = up && (n == 0 || red >= palette[n - 1][0]);
    down = down && (n == 0 || red <= palette[n - 1][0]);
  }
  if (gray && up) return;
  if (gray && down) {
    info.black = static_cast<double>(palette.size()) - 1;
  } else {
    info.labels_only = "its values are indices of a colour palette, so labels and not gray values";
  }
}

void turn_white(std::span<float> values, double black, const std::string& path) {
  require(std::isfinite(black),
          "{}: 0 is white in some of its pages and black in others, and its values are not positive integers; convert "
          "it",
          path);
  for (float& v : values) v = static_cast<float>(black - double{v});
}

std::string rounding_note(VoxelType type, double smallest, double largest) {
  if (type == VoxelType::float64) return "values of 64 bits are rounded to 24 binary digits (relative 6e-8)";
  const bool wide = is_integer(type) && bytes_of(type) > 2;
  if (!wide || std::max(-smallest, largest) <= 16777216.0) return "";
  return fmt::format("values from {} to {}: integers beyond 2^24 are rounded to 24 binary digits", smallest, largest);
}

namespace {

std::unique_ptr<ImageFile> open_self_describing(const std::string& path, SelfDescribing format) {
  switch (format) {
    case SelfDescribing::tiff:
      return open_tiff(path);
    case SelfDescribing::png:
      return open_png(path);
    case SelfDescribing::numpy:
      return open_numpy(path);
    case SelfDescribing::hdf5:
      return open_hdf5(path);
    case SelfDescribing::meta_image:
      return open_meta_image(path);
    case SelfDescribing::nrrd:
      return open_nrrd(path);
    case SelfDescribing::nifti:
      return open_nifti(path);
    case SelfDescribing::vti:
      return open_vti(path);
  }
  throw Error(fmt::format("{}: this format is not supported", path));
}

constexpr std::array<std::string_view, 4> raw_extensions{".raw", ".bin", ".dat", ".img"};

/// .raw, .raw.gz, ...
bool has_raw_extension(const std::string& path) {
  std::filesystem::path name(lower_case(path));
  if (name.extension() == ".gz") name.replace_extension();
  const std::string extension = name.extension().string();
  return std::find(raw_extensions.begin(), raw_extensions.end(), extension) != raw_extensions.end();
}

}  // namespace

bool is_image_name(const std::string& path) {
  return describes_itself(path) || has_raw_extension(path) || is_read_by_python(split_array(path).first);
}

std::unique_ptr<ImageFile> open_image(const std::string& path, const std::optional<RawLayout>& layout) {
  require(!path.empty(), "image: no file given");
  require(!layout || !describes_itself(path),
          "{}: its format contains size and type; `size`, `type`, `endian` and `skip_bytes` are for raw files", path);
  const std::string file = split_array(path).first;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  if (is_pattern(path) || (folder && !is_read_by_python(file))) return open_stack(path);
  require(std::filesystem::exists(file, ignored), "{}: no such file", file);
  require_readable(file, layout);
  if (const auto format = format_of(file)) return open_self_describing(path, *format);
  require(layout || has_raw_extension(path),
          "{}: its format cannot be determined from its first bytes or its name; supported are .tif .tiff .png .npy "
          ".h5 .hdf5 .nxs .mha .mhd .nrrd .nhdr .nii .nii.gz .hdr .vti, folders and patterns of .tif or .png slices, "
          "and .raw .bin "
          ".dat .img, also with .gz behind (raw files, which need `size` and `type`; with these any name is read as "
          "one)",
          path);
  require(layout.has_value(), "{}: a raw file needs its `size` (voxels in x, y, z: 128x128x64) and `type` (uint8, ...)",
          path);
  return open_raw(path, *layout);
}

}  // namespace karst
