// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/image_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

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
                                                      {"float32", 4, false},
                                                      {"float64", 8, false}}};

const TypeFacts& facts(VoxelType t) { return types[static_cast<std::size_t>(t)]; }

struct Extension {
  std::string_view text;
  std::optional<SelfDescribing> format;  ///< none: raw
};
constexpr std::array<Extension, 13> extensions{{{".tif", SelfDescribing::tiff},
                                                {".tiff", SelfDescribing::tiff},
                                                {".mha", SelfDescribing::meta_image},
                                                {".mhd", SelfDescribing::meta_image},
                                                {".nrrd", SelfDescribing::nrrd},
                                                {".nhdr", SelfDescribing::nrrd},
                                                {".nii", SelfDescribing::nifti},
                                                {".nii.gz", SelfDescribing::nifti},
                                                {".vti", SelfDescribing::vti},
                                                {".raw", {}},
                                                {".bin", {}},
                                                {".dat", {}},
                                                {".img", {}}}};

const Extension* extension_of(const std::string& path) {
  std::string lower = path;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found =
      std::find_if(extensions.begin(), extensions.end(), [&](auto& e) { return lower.ends_with(e.text); });
  return found == extensions.end() ? nullptr : &*found;
}

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
  assert(values.size() == static_cast<std::size_t>(info_.size[0]) * static_cast<std::size_t>(info_.size[1]));
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
    case VoxelType::float32:
      return convert<float>(native, values);
    case VoxelType::float64:
      return convert<double>(native, values);
  }
}

void set_cubic_voxel(ImageInfo& info, const Vec3& w) {
  const double low = std::min({w[0], w[1], w[2]}), high = std::max({w[0], w[1], w[2]});
  require(low > 0 && std::isfinite(high), "{}: states voxels of {} x {} x {} m; widths must be positive", info.path,
          w[0], w[1], w[2]);
  require(high <= 1.001 * low, "{}: states voxels of {} x {} x {} m; they must be cubes, resample the image first",
          info.path, w[0], w[1], w[2]);
  info.voxel = w[0];
}

bool describes_itself(const std::string& path) {
  const Extension* e = extension_of(path);
  return e && e->format;
}

std::unique_ptr<ImageFile> open_image(const std::string& path, const std::optional<RawLayout>& layout) {
  require(!path.empty(), "image: no file named");
  std::error_code ignored;
  require(std::filesystem::exists(path, ignored), "{}: no such file", path);
  require(!std::filesystem::is_directory(path, ignored), "{}: is a folder; name one image file", path);
  const Extension* extension = extension_of(path);
  if (extension && extension->format) {
    require(!layout, "{}: says its sizes and type itself; size, type, endian and skip_bytes are for raw files", path);
    if (*extension->format == SelfDescribing::tiff) return open_tiff(path);
    return open_with_vtk(path, *extension->format);
  }
  require(
      layout || extension,
      "{}: extension unknown; known are .tif .tiff .mha .mhd .nrrd .nhdr .nii .nii.gz .vti, and .raw .bin .dat .img "
      "(raw files, which need size and type)",
      path);
  require(layout.has_value(), "{}: a raw file needs its size (nx,ny,nz) and type (uint8, ...)", path);
  return open_raw(path, *layout);
}

}  // namespace karst
