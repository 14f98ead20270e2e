// SPDX-License-Identifier: BSD-3-Clause
// NIfTI-1 and -2 (.nii, .nii.gz, .hdr with .img): a binary header of 348 or 540 bytes in the byte order of its writer,
// then or beside it the voxels, x fastest (nifti.nimh.nih.gov/nifti-1, nifti-2). Plain voxels are read plane by plane.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

/// The entries of both versions that matter here.
struct Header {
  int version = 1;
  bool big_endian = false;
  bool one_file = false;  ///< header and voxels in one
  std::array<std::int64_t, 8> dim{};
  std::array<double, 8> pixdim{};
  int datatype = 0, bits = 0, units = 0;
  double vox_offset = 0, slope = 0, intercept = 0;
  int sform_code = 0;
  std::array<std::array<double, 3>, 3> sform{};  ///< rows: x, y, z of a step along each axis of the voxels
};

constexpr std::size_t bytes_1 = 348, bytes_2 = 540;

/// Entries of a header in its byte order.
struct Entries {
  std::span<const char> bytes;
  bool big_endian;

  template <class T>
  T at(std::size_t offset) const {
    std::array<char, sizeof(T)> b;
    std::copy_n(&bytes[offset], sizeof(T), b.begin());
    if (big_endian != (std::endian::native == std::endian::big)) std::reverse(b.begin(), b.end());
    return std::bit_cast<T>(b);
  }
};

void read_version_1(const Entries& e, Header& h) {
  for (std::size_t d = 0; d < 8; ++d) {
    h.dim[d] = e.at<std::int16_t>(40 + 2 * d);
    h.pixdim[d] = double{e.at<float>(76 + 4 * d)};
  }
  h.datatype = e.at<std::int16_t>(70);
  h.bits = e.at<std::int16_t>(72);
  h.vox_offset = double{e.at<float>(108)};
  h.slope = double{e.at<float>(112)};
  h.intercept = double{e.at<float>(116)};
  h.units = e.at<unsigned char>(123);
  h.sform_code = e.at<std::int16_t>(254);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) h.sform[r][c] = double{e.at<float>(280 + 16 * r + 4 * c)};
}

void read_version_2(const Entries& e, Header& h) {
  for (std::size_t d = 0; d < 8; ++d) {
    h.dim[d] = e.at<std::int64_t>(16 + 8 * d);
    h.pixdim[d] = e.at<double>(104 + 8 * d);
  }
  h.datatype = e.at<std::int16_t>(12);
  h.bits = e.at<std::int16_t>(14);
  h.vox_offset = static_cast<double>(e.at<std::int64_t>(168));
  h.slope = e.at<double>(176);
  h.intercept = e.at<double>(184);
  h.units = e.at<std::int32_t>(500);
  h.sform_code = e.at<std::int32_t>(348);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) h.sform[r][c] = e.at<double>(400 + 32 * r + 8 * c);
}

/// @param start  at least the first 4 bytes of the file
Header version_of(std::span<const char> start, const std::string& path) {
  for (const bool big : {false, true}) {
    const int length = Entries{start, big}.at<std::int32_t>(0);
    if (length == bytes_1 || length == bytes_2) return {.version = length == bytes_1 ? 1 : 2, .big_endian = big};
  }
  throw Error(fmt::format("{}: is not a NIfTI file: its first four bytes are neither 348 nor 540", path));
}

Header read_entries(std::span<const char> bytes, const std::string& path) {
  Header h = version_of(bytes, path);
  const Entries entries{bytes, h.big_endian};
  const std::string_view magic = h.version == 1 ? std::string_view(&bytes[344], 4) : std::string_view(&bytes[4], 8);
  const std::string_view rest = h.version == 1 ? std::string_view("\0", 1) : std::string_view("\0\r\n\x1a\n", 5);
  h.one_file = magic[1] == '+';
  require(magic[0] == 'n' && (h.one_file || magic[1] == 'i') && magic[2] == '0' + h.version && magic.substr(3) == rest,
          "{}: is not a NIfTI file of version {}: its magic string is missing (an Analyze image? convert it)", path,
          h.version);
  if (h.version == 1) {
    read_version_1(entries, h);
  } else {
    read_version_2(entries, h);
  }
  return h;
}

VoxelType type_of(const Header& h, const std::string& path) {
  struct Code {
    int code;
    VoxelType type;
  };
  constexpr std::array<Code, 10> codes{{{2, VoxelType::uint8},
                                        {256, VoxelType::int8},
                                        {512, VoxelType::uint16},
                                        {4, VoxelType::int16},
                                        {768, VoxelType::uint32},
                                        {8, VoxelType::int32},
                                        {1280, VoxelType::uint64},
                                        {1024, VoxelType::int64},
                                        {16, VoxelType::float32},
                                        {64, VoxelType::float64}}};
  const auto found = std::find_if(codes.begin(), codes.end(), [&](const Code& c) { return c.code == h.datatype; });
  require(found != codes.end(),
          "{}: its voxels are of datatype {}; integers of 1, 2, 4 or 8 bytes and floating point numbers of 4 or 8 are "
          "read, one value per voxel",
          path, h.datatype);
  require(h.bits == 8 * bytes_of(found->type), "{}: its header is inconsistent: datatype {} ({}) with {} bits", path,
          h.datatype, name_of(found->type), h.bits);
  return found->type;
}

Index size_of(const Header& h, const std::string& path) {
  const std::int64_t dimensions = h.dim[0];
  require(dimensions >= 2 && dimensions <= 7, "{}: has {} dimensions; two or three are needed", path, dimensions);
  Index size = Index::all(1);
  for (int d = 1; d <= dimensions; ++d) {
    require(h.dim[d] > 0 && h.dim[d] <= INT_MAX, "{}: has {} voxels in dimension {}; allowed are 1 to {}", path,
            h.dim[d], d, INT_MAX);
    require(d <= 3 || h.dim[d] == 1,
            "{}: has {} entries in dimension {} (times or components); one value per voxel is needed", path, h.dim[d],
            d);
    if (d <= 3) size[static_cast<int>(d) - 1] = static_cast<int>(h.dim[d]);
  }
  return size;
}

void read_spacing(const Header& h, ImageInfo& info) {
  constexpr std::array<double, 4> metres{0, 1, 1e-3, 1e-6};
  const int unit = h.units & 7;  // the bits above are the unit of time
  require(unit <= 3, "{}: its unit of length has the code {}; allowed are 0 to 3", info.path, unit);
  Vec3 w{h.pixdim[1], h.pixdim[2], h.pixdim[3]};
  if (w == Vec3::all(0)) return;
  const std::size_t axes = h.dim[0] == 2 ? 2 : 3;
  if (axes == 2) w[2] = w[0];
  set_spacing(info, w, metres[unit]);
  if (h.sform_code <= 0) return;
  std::vector<Vec3> steps;
  for (std::size_t c = 0; c < axes; ++c) steps.emplace_back(h.sform[0][c], h.sform[1][c], h.sform[2][c]);
  require_right_angles(steps, info.path, "sform");
  doubt_lengths(info, steps, w, "sform");
}

/// Where the voxels begin. Throws Error unless it is a whole number of bytes behind the header.
std::int64_t start_of_voxels(const Header& h, const std::string& path) {
  const double least = h.one_file ? (h.version == 1 ? 352 : 544) : 0;
  require(h.vox_offset >= least && h.vox_offset < 1e15 && h.vox_offset == std::floor(h.vox_offset),
          "{}: its voxels begin at byte {}; this must be an integer of at least {}", path, h.vox_offset, least);
  return static_cast<std::int64_t>(h.vox_offset);
}

/// File with the voxels of a header that has none.
std::string image_beside(const std::string& path) {
  const bool packed = lower_case(path).ends_with(".gz");
  std::filesystem::path file = packed ? std::filesystem::path(path).replace_extension() : std::filesystem::path(path);
  file.replace_extension(file.extension() == ".HDR" ? ".IMG" : ".img");
  return file_beside(path, file.filename().string() + (packed ? path.substr(path.size() - 3) : ""));
}

std::unique_ptr<ImageFile> scaled(const Header& h, std::unique_ptr<ImageFile> image) {
  // Slope 0, or no number at all, says that values are not scaled.
  if (h.slope == 0 || std::isnan(h.slope)) return image;
  const double intercept = std::isnan(h.intercept) ? 0 : h.intercept;
  require(std::isfinite(h.slope) && std::isfinite(intercept),
          "{}: the slope and offset of its values are {} and {}; both must be finite", image->info().path, h.slope,
          h.intercept);
  if (h.slope == 1 && intercept == 0) return image;
  return scale_values(std::move(image), h.slope, intercept);
}

/// The first bytes of the file, decompressed when they are.
std::vector<char> header_bytes(const std::string& path, InflatedFile* packed) {
  const auto next = [&](std::int64_t from, std::size_t count) {
    std::vector<char> bytes(count);
    if (packed) {
      packed->read(std::span(bytes));
    } else {
      const std::string text = bytes_between(path, from, from + static_cast<std::int64_t>(count));
      std::copy(text.begin(), text.end(), bytes.begin());
    }
    return bytes;
  };
  std::vector<char> bytes = next(0, bytes_1);
  if (version_of(bytes, path).version == 2) {
    const std::vector<char> rest = next(bytes_1, bytes_2 - bytes_1);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
  }
  return bytes;
}

std::unique_ptr<ImageFile> read_packed(ImageInfo info, const RawLayout& layout, InflatedFile& file,
                                       std::int64_t before) {
  file.read(before);
  std::vector<char> voxels = file.read(voxel_bytes(layout));
  file.finish();
  return hold_voxels(std::move(info), layout, std::move(voxels));
}

}  // namespace

std::unique_ptr<ImageFile> open_nifti(const std::string& path) {
  const auto kind = kind_of_file(path);
  const bool is_packed = kind && kind->as_raw == AsRaw::when_packed;
  std::optional<InflatedFile> packed;
  if (is_packed) packed.emplace(path, 0);
  const std::vector<char> bytes = header_bytes(path, packed ? &*packed : nullptr);
  const Header header = read_entries(bytes, path);
  ImageInfo info;
  info.path = path;
  info.format = "NIfTI";
  RawLayout layout;
  layout.size = size_of(header, path);
  layout.type = type_of(header, path);
  layout.big_endian = header.big_endian;
  layout.skip_bytes = start_of_voxels(header, path);
  read_spacing(header, info);
  const std::string file = header.one_file ? path : image_beside(path);
  if (!is_packed) return scaled(header, open_voxels(std::move(info), file, layout, BehindVoxels::nothing));
  std::int64_t before = layout.skip_bytes;
  if (header.one_file) {
    before -= static_cast<std::int64_t>(bytes.size());
  } else {
    packed.emplace(file, 0);
  }
  return scaled(header, read_packed(std::move(info), layout, *packed, before));
}

}  // namespace karst
