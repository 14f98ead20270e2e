// SPDX-License-Identifier: BSD-3-Clause
// One PNG slice through libpng: gray values or indices of a palette, 1 to 16 bits, interlaced or not.
#include <png.h>

#include <array>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

/// A file that libpng reads. Its errors end in a jump, so whoever calls libpng sets jump_ first and keeps no objects.
class PngFile {
 public:
  explicit PngFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    require(file_ != nullptr, "{}: cannot be opened for reading ({})", path, std::strerror(errno));
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, keep_and_jump, ignore);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) close();
    require(info_ != nullptr, "{}: not enough memory to read it", path);
  }
  ~PngFile() { close(); }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  void read_header() { require(header(), "{}: cannot be read as PNG: {}", path_, message_); }
  void read_rows(png_bytepp rows) { require(all_rows(rows), "{}: cannot be read: {}", path_, message_); }

  std::uint32_t nx() const { return png_get_image_width(png_, info_); }
  std::uint32_t ny() const { return png_get_image_height(png_, info_); }
  int bits() const { return png_get_bit_depth(png_, info_); }
  bool has_palette() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE; }
  bool one_value() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY || has_palette(); }
  std::vector<std::array<int, 3>> palette() const {
    png_colorp colours = nullptr;
    int n = 0;
    png_get_PLTE(png_, info_, &colours, &n);
    std::vector<std::array<int, 3>> all;
    for (int c = 0; c < n; ++c) all.push_back({colours[c].red, colours[c].green, colours[c].blue});
    return all;
  }
  std::string color_type() const { return std::to_string(png_get_color_type(png_, info_)); }
  /// Pixels in x and y per metre, or per a length that is not known; 0 when not stated.
  struct Resolution {
    double x = 0, y = 0;
    bool metres = false;
  };
  Resolution resolution() const {
    png_uint_32 x = 0, y = 0;
    int unit = 0;
    if (png_get_pHYs(png_, info_, &x, &y, &unit) == 0 || x == 0 || y == 0) return {};
    return {double(x), double(y), unit == PNG_RESOLUTION_METER};
  }

 private:
  [[noreturn]] static void keep_and_jump(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngFile*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    std::longjmp(self.jump_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

  bool header() {
    if (setjmp(jump_) != 0) return false;
    png_init_io(png_, file_);
    png_read_info(png_, info_);
    return true;
  }
  bool all_rows(png_bytepp rows) {
    if (setjmp(jump_) != 0) return false;
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_packing(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }
  void close() {
    png_destroy_read_struct(&png_, &info_, nullptr);
    std::fclose(file_);
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char message_[200] = "";
};

class PngImage : public ImageFile {
 public:
  explicit PngImage(ImageInfo description) : ImageFile(std::move(description)) {}

 private:
  void load_plane(int, std::span<float> values) override {
    const std::size_t bytes = bytes_of(info().type);
    std::vector<unsigned char> plane(values.size() * bytes);
    std::vector<png_bytep> rows;
    for (int y = 0; y < info().size[1]; ++y) rows.push_back(plane.data() + std::int64_t{y} * info().size[0] * bytes);
    PngFile file(info().path);
    file.read_header();
    require(static_cast<int>(file.nx()) == info().size[0] && static_cast<int>(file.ny()) == info().size[1] &&
                (file.bits() == 16) == (bytes == 2) && file.one_value(),
            "{}: has changed since it was opened", info().path);
    file.read_rows(rows.data());
    to_float(plane.data(), info().type, values);
  }
};

}  // namespace

std::unique_ptr<ImageFile> open_png(const std::string& path) {
  PngFile file(path);
  file.read_header();
  require(file.one_value(),
          "{}: is in colour or has transparency (PNG colour type {}); one gray value per pixel is needed, convert the "
          "image",
          path, file.color_type());
  ImageInfo info;
  info.path = path;
  info.format = "PNG";
  info.size = {static_cast<int>(file.nx()), static_cast<int>(file.ny()), 1};  // libpng: below 2^31
  info.type = file.bits() == 16 ? VoxelType::uint16 : VoxelType::uint8;
  if (file.has_palette()) set_palette(info, file.palette());
  if (const auto r = file.resolution(); r.x > 0) {
    info.z_assumed = true;
    if (r.metres) set_resolution(info, {1 / r.x, 1 / r.y, 1 / r.x});
    if (!r.metres && r.x != r.y) set_spacing(info, {1 / r.x, 1 / r.y, 1 / r.x}, 0);
  }
  return std::make_unique<PngImage>(std::move(info));
}

}  // namespace karst
