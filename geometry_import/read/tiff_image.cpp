// SPDX-License-Identifier: BSD-3-Clause
// TIFF through libtiff: every page is a z-plane, or one page is a volume (ImageDepth); gray, 1 to 64 bits, strips or
// tiles, any compression libtiff knows.
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"
#include "geometry_import/read/tiff_description.hpp"
#include "geometry_import/read/tiff_extents.hpp"
#include "geometry_import/read/tiff_pages.hpp"

namespace karst {
namespace {

void keep_message(const char* /*module*/, const char* format, std::va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  last_tiff_message() = text;
}

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using Handle = std::unique_ptr<TIFF, Close>;

std::string description_of(TIFF* tiff) {
  const char* text = nullptr;
  return TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text ? text : "";
}

/// Widths in x and y of the resolution tags, 1 / resolution; 0 where there is none.
std::array<double, 2> tag_widths(TIFF* tiff) {
  float x = 0, y = 0;
  TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x);
  TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y);
  if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y))) return {0, 0};
  return {1 / double{x}, 1 / double{y}};
}

/// Metres of the unit of the resolution tags; 0 where none is stated.
double tag_metres(TIFF* tiff) {
  std::uint16_t unit = RESUNIT_NONE;
  TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
  return unit == RESUNIT_INCH ? 0.0254 : unit == RESUNIT_CENTIMETER ? 0.01 : 0;
}

/// Widths in x and y as the description states them (OME), or from the resolution tags in the unit that it names
/// (ImageJ), or that the tags name. A step between planes that is not stated is taken equal to the width in x.
void read_voxel(TIFF* tiff, const TiffDescription& d, ImageInfo& info) {
  const bool imagej = d.writer == "ImageJ";
  const bool own = d.width[0] != 0 && d.width[1] != 0 && d.metres[0] > 0 && d.metres[1] > 0;
  const bool named = own || (imagej && d.metres[0] > 0);
  const double of_tags = d.unknown_unit.empty() ? tag_metres(tiff) : 0;
  const std::array<double, 2> xy = own ? std::array{d.width[0], d.width[1]} : tag_widths(tiff);
  const Vec3 metres =
      named ? Vec3{d.metres[0], d.metres[1], d.metres[2]} : Vec3{of_tags, of_tags, imagej ? of_tags : d.metres[2]};
  if (std::isnan(d.width[2])) info.notes.push_back("the distance between its planes is not a number");
  const bool step = d.width[2] != 0 && std::isfinite(d.width[2]);
  if (xy[0] != 0 && metres[0] > 0 && metres[1] > 0) {
    info.z_assumed = !(step && metres[2] > 0);
    const double x = xy[0] * metres[0], z = info.z_assumed ? x : d.width[2] * metres[2];
    named ? set_spacing(info, {x, xy[1] * metres[1], z}, 1) : set_resolution(info, {x, xy[1] * metres[1], z});
    if (!d.unknown_unit.empty()) info.notes.push_back(fmt::format("its unit \"{}\" is unknown", d.unknown_unit));
    return;
  }
  // Pixels that are no squares, or planes farther apart, in a unit that nobody knows: proportions alone.
  const Vec3 w{xy[0], xy[1], step && imagej ? d.width[2] : xy[0]};
  info.z_assumed = !(step && imagej);
  if (metres[0] == 0 && metres[1] == 0 && xy[0] != 0 && w * (1 / w[0]) != Vec3::all(1)) set_spacing(info, w, 0);
  if (!d.unknown_unit.empty()) info.voxel_note = fmt::format("its unit \"{}\" is unknown", d.unknown_unit);
}

/// A stack that has one page for all planes, which libtiff does not know, read as what it is: one plane behind the
/// other.
std::unique_ptr<ImageFile> open_hidden_planes(TIFF* tiff, ImageInfo info, std::int64_t planes,
                                              const std::vector<TiffPage>& pages, const std::string& writer) {
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  const TiffPage& page = pages.front();
  require(pages.size() == 1 && compression == COMPRESSION_NONE && !TIFFIsTiled(tiff) &&
              planes < std::int64_t{1} << 31 && page.bits >= 8 && !is_half(page) &&
              page.orientation == ORIENTATION_TOPLEFT,
          "{}: according to {} it has {} planes, but the file has pages for {}; it is damaged, or must be saved as raw "
          "or as a BigTIFF with one page per plane",
          info.path, writer, planes, pages.size());
  RawLayout layout;
  layout.size = {static_cast<int>(page.nx), static_cast<int>(page.ny), static_cast<int>(planes)};
  layout.type = info.type;
  layout.big_endian = TIFFIsBigEndian(tiff) != 0;
  layout.skip_bytes = static_cast<std::int64_t>(TIFFGetStrileOffset(tiff, 0));
  const std::string path = info.path;
  return open_voxels(std::move(info), path, layout, BehindVoxels::anything);
}

std::uint32_t rows_of_strip(TIFF* tiff, std::uint32_t strip, std::uint32_t ny) {
  std::uint32_t rows = ny;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  rows = std::min(rows, ny);
  return std::min(rows, ny - std::min(ny, strip * rows));
}

/// Sign, 5 bits of exponent, 10 of mantissa (IEEE 754 binary16).
float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  float size = std::ldexp(static_cast<float>(exponent == 0 ? mantissa : 1024 + mantissa), std::max(exponent, 1) - 25);
  if (exponent == 31) size = mantissa == 0 ? HUGE_VALF : NAN;
  return (half & 0x8000) != 0 ? -size : size;
}

void widen_halves(std::vector<char>& plane) {
  std::vector<char> wide(2 * plane.size());
  for (std::size_t n = 0; n < plane.size() / 2; ++n) {
    std::uint16_t half = 0;
    std::memcpy(&half, &plane[2 * n], 2);
    const float value = half_to_float(half);
    std::memcpy(&wide[4 * n], &value, 4);
  }
  plane = std::move(wide);
}

/// Pixels of 1, 2 or 4 bits, highest first, as bytes; floating point numbers of 16 bits as such of 32.
/// @param[in,out] plane  rows of whole bytes, then a value of its own for each pixel
void unpack(const TiffPage& page, std::vector<char>& plane) {
  if (is_half(page)) widen_halves(plane);
  if (page.bits >= 8) return;
  const unsigned per_byte = 8u / page.bits, mask = (1u << page.bits) - 1;
  const std::size_t row = plane.size() / page.ny;
  std::vector<char> bytes(std::size_t{page.nx} * page.ny);
  for (std::size_t y = 0; y < page.ny; ++y)
    for (std::size_t x = 0; x < page.nx; ++x) {
      const auto packed = static_cast<unsigned char>(plane[y * row + x / per_byte]);
      bytes[y * page.nx + x] = static_cast<char>(packed >> (8 - page.bits * (x % per_byte + 1)) & mask);
    }
  plane = std::move(bytes);
}

class TiffImage : public ImageFile {
 public:
  TiffImage(ImageInfo description, Handle tiff, std::vector<TiffPage> pages)
      : ImageFile(std::move(description)), tiff_(std::move(tiff)), pages_(std::move(pages)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const bool volume = pages_.front().nz > 1;  // all planes are in one page
    const int number = volume ? 0 : z, layer = volume ? z : 0;
    const TiffPage& page = pages_[number];
    if (number != current_) {
      last_tiff_message().clear();
      check(TIFFSetSubDirectory(tiff_.get(), page.place) == 1, z);
      current_ = number;
      tiles_.clear();
      check_sums(number);
    }
    last_tiff_message().clear();
    row_bytes_ = (std::size_t{page.nx} * page.bits + 7) / 8;
    plane_.resize(row_bytes_ * page.ny);
    if (TIFFIsTiled(tiff_.get())) {
      read_tiles(page, z, layer);
    } else {
      read_strips(z);
    }
    unpack(page, plane_);
    if (page.orientation == ORIENTATION_TOPLEFT) {
      to_float(plane_.data(), info().type, values);
    } else {
      stored_.resize(values.size());
      to_float(plane_.data(), info().type, stored_);
      orient(page, stored_, values);
    }
    if (page.white_is_zero && !info().black) turn_white(values, black_of(page), info().path);
  }

  /// libtiff stops before the check sum of what zlib compressed: it is looked at when a page is read for the first
  /// time.
  void check_sums(int number) {
    std::uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_COMPRESSION, &compression);
    const bool zlib = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
    if (!zlib || checked_[number]) return;
    TIFF* const t = tiff_.get();
    const bool tiles = TIFFIsTiled(t) != 0;
    const auto all = static_cast<std::uint64_t>(bytes_in(info().path));
    for (std::uint32_t s = 0; s < (tiles ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t)); ++s) {
      std::vector<char> raw(std::min<std::uint64_t>(TIFFGetStrileByteCount(t, s), all));
      const auto length = static_cast<tmsize_t>(raw.size());
      check((tiles ? TIFFReadRawTile : TIFFReadRawStrip)(t, s, raw.data(), length) == length, number);
      const std::int64_t made = check_inflated(raw, info().path);
      // Of a page that does not say how many bits a pixel has, one is taken: a strip of more bytes shows that.
      require(pages_[number].bits >= 8 ||
                  made == (tiles ? TIFFTileSize(t) : TIFFVStripSize(t, rows_of_strip(t, s, pages_[number].ny))),
              "{}: page {} has {} bytes of pixels of {} bits in strip or tile {}, a different number than needed",
              info().path, number, made, pages_[number].bits, s);
    }
    checked_[number] = true;
  }

  void read_strips(int z) {
    std::size_t at = 0;
    for (std::uint32_t s = 0; s < TIFFNumberOfStrips(tiff_.get()); ++s) {
      const tmsize_t n =
          TIFFReadEncodedStrip(tiff_.get(), s, plane_.data() + at, static_cast<tmsize_t>(plane_.size() - at));
      check(n >= 0, z);
      at += n;
    }
    check(at == plane_.size(), z);
  }

  /// A tile of several planes, of which libtiff reads the first alone.
  void read_deep_tile(std::uint32_t tile, std::span<char> bytes, int z) {
    std::uint16_t compression = COMPRESSION_NONE, predictor = PREDICTOR_NONE;
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_COMPRESSION, &compression);
    TIFFGetField(tiff_.get(), TIFFTAG_PREDICTOR, &predictor);
    const bool zlib = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
    require((zlib || compression == COMPRESSION_NONE) && predictor == PREDICTOR_NONE && pages_.front().bits >= 8 &&
                !is_half(pages_.front()),
            "{}: tiles of several planes (TileDepth) are read uncompressed or compressed by zlib, without predictor, "
            "with 8 bits or more; save it with one page per plane",
            info().path);
    const auto all = static_cast<std::uint64_t>(bytes_in(info().path));
    std::vector<char> raw(std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff_.get(), tile), all));
    const auto length = static_cast<tmsize_t>(raw.size());
    check(TIFFReadRawTile(tiff_.get(), tile, raw.data(), length) == length, z);
    check(zlib || raw.size() == bytes.size(), z);
    if (zlib) {
      inflate_block(raw, bytes, info().path);
    } else {
      std::copy(raw.begin(), raw.end(), bytes.begin());
    }
    to_native(bytes, info().type, TIFFIsBigEndian(tiff_.get()) != 0);
  }

  /// @param layer  plane of the page, of which a tile may hold several
  void read_tiles(const TiffPage& page, int z, int layer) {
    std::uint32_t tx = 0, ty = 0, tz = 1;
    TIFFGetField(tiff_.get(), TIFFTAG_TILEWIDTH, &tx);
    TIFFGetField(tiff_.get(), TIFFTAG_TILELENGTH, &ty);
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_TILEDEPTH, &tz);
    check(tx > 0 && ty > 0 && tz > 0 && (page.nz > 1 || tz == 1), z);
    const std::size_t tile_row = (std::size_t{tx} * page.bits + 7) / 8, tile_bytes = tile_row * ty * tz;
    check(tz > 1 || std::cmp_equal(tile_bytes, TIFFTileSize(tiff_.get())), z);
    const std::uint32_t first = static_cast<std::uint32_t>(layer) / tz * tz;
    if (tiles_.empty() || first != first_layer_) {
      const std::size_t across = (page.nx + tx - 1) / tx, down = (page.ny + ty - 1) / ty;
      tiles_.resize(across * down * tile_bytes);
      first_layer_ = first;
      for (std::size_t n = 0; n < across * down; ++n) {
        const std::uint32_t tile = TIFFComputeTile(tiff_.get(), static_cast<std::uint32_t>(n % across) * tx,
                                                   static_cast<std::uint32_t>(n / across) * ty, first, 0);
        const std::span<char> bytes(&tiles_[n * tile_bytes], tile_bytes);
        if (tz > 1) {
          read_deep_tile(tile, bytes, z);
        } else {
          check(TIFFReadEncodedTile(tiff_.get(), tile, bytes.data(), static_cast<tmsize_t>(tile_bytes)) >= 0, z);
        }
      }
    }
    const char* tile = tiles_.data() + (static_cast<std::uint32_t>(layer) - first) * tile_row * ty;
    for (std::uint32_t y = 0; y < page.ny; y += ty)
      for (std::size_t at = 0; at < row_bytes_; at += tile_row, tile += tile_bytes)
        for (std::uint32_t row = 0; row < std::min(ty, page.ny - y); ++row)
          std::memcpy(&plane_[(y + row) * row_bytes_ + at], tile + row * tile_row, std::min(tile_row, row_bytes_ - at));
  }

  void check(bool ok, int z) const {
    require(ok, "{}: page {} cannot be read: {}", info().path, z,
            last_tiff_message().empty() ? "data missing" : last_tiff_message());
  }

  Handle tiff_;
  std::vector<TiffPage> pages_;
  std::vector<bool> checked_ = std::vector<bool>(pages_.size());
  int current_ = -1;                 ///< the page that libtiff is on
  std::uint32_t first_layer_ = 0;    ///< of the tiles held
  std::size_t row_bytes_ = 0;        ///< of a row of pixels in the file
  std::vector<char> plane_, tiles_;  ///< a plane; all tiles of one layer
  std::vector<float> stored_;
};

/// Planes of the image where pages are as the description says.
Index size_of(const std::vector<TiffPage>& pages, const std::string& path) {
  const TiffPage& p = pages.front();
  require(p.nz == 1 || pages.size() == 1,
          "{}: has {} pages of {} planes each (ImageDepth): only one axis of planes may have more than 1; save one "
          "volume as a separate image",
          path, pages.size(), p.nz);
  const auto nx = static_cast<int>(p.turned() ? p.ny : p.nx), ny = static_cast<int>(p.turned() ? p.nx : p.ny);
  return {nx, ny, static_cast<int>(p.nz > 1 ? p.nz : pages.size())};
}

/// The image of one page with several planes, where they lie in strips: libtiff reads the first alone.
std::unique_ptr<ImageFile> open_deep_strips(TIFF* tiff, ImageInfo info, const std::vector<TiffPage>& pages) {
  const std::int64_t planes = pages.front().nz;
  return open_hidden_planes(tiff, std::move(info), planes, pages, "its tag ImageDepth");
}

/// Rows that are columns take their widths along.
void turn_widths(ImageInfo& info) {
  Vec3& p = info.proportions;
  p = Vec3{p[1], p[0], p[2]} * (1 / p[1]);
  if (info.spacing) std::swap((*info.spacing)[0], (*info.spacing)[1]);
}

std::unique_ptr<ImageFile> calibrated(std::unique_ptr<ImageFile> image, const TiffDescription& d) {
  if (!d.calibration || *d.calibration == std::array<double, 2>{0, 1}) return image;
  const double offset = (*d.calibration)[0], slope = (*d.calibration)[1];
  const bool sign =
      image->info().type == VoxelType::uint16 && offset == -32768 && slope == 1;  // how ImageJ writes int16
  return scale_values(
      std::move(image), slope, offset, sign ? VoxelType::int16 : VoxelType::float32,
      fmt::format("its ImageJ calibration is applied: values are {:g} + {:g} times the stored values", offset, slope));
}

}  // namespace

std::unique_ptr<ImageFile> open_tiff(const std::string& path) {
  TIFFSetErrorHandler(keep_message);
  TIFFSetWarningHandler(nullptr);
  last_tiff_message().clear();
  Handle tiff(TIFFOpen(path.c_str(), "r"));
  require(tiff != nullptr, "{}: cannot be read as TIFF: {}", path, last_tiff_message());
  ImageInfo info;
  info.path = path;
  info.format = "TIFF";
  std::vector<TiffPage> pages = read_tiff_pages(tiff.get(), info);
  const TiffPage first = pages.front();
  info.type = type_of(first, path);
  const TiffDescription d = read_tiff_description(description_of(tiff.get()), path, {first.nx, first.ny},
                                                  static_cast<std::int64_t>(pages.size()) * first.nz);
  info.notes.insert(info.notes.end(), d.notes.begin(), d.notes.end());
  read_voxel(tiff.get(), d, info);
  const bool deep_strips = first.nz > 1 && !TIFFIsTiled(tiff.get());
  if (deep_strips && pages.size() == 1) return calibrated(open_deep_strips(tiff.get(), std::move(info), pages), d);
  if (d.without_pages && first.nz == 1 && d.planes > static_cast<std::int64_t>(pages.size()))
    return calibrated(open_hidden_planes(tiff.get(), std::move(info), d.planes, pages, d.writer), d);
  check_tiff_extents(path);
  if (!d.pages.empty() && first.nz == 1) {
    std::vector<TiffPage> ordered;
    for (const std::int64_t n : d.pages) ordered.push_back(pages[n]);
    pages = std::move(ordered);
  }
  info.size = size_of(pages, path);
  if (first.turned()) turn_widths(info);
  return calibrated(std::make_unique<TiffImage>(std::move(info), std::move(tiff), std::move(pages)), d);
}

}  // namespace karst
