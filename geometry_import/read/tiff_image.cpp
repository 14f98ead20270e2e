// SPDX-License-Identifier: BSD-3-Clause
// TIFF through libtiff: every page is a z-plane; gray, 8 to 64 bits, strips or tiles, any compression libtiff knows.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"
#include "geometry_import/read/tiff_extents.hpp"

namespace karst {
namespace {

thread_local std::string last_message;

void keep_message(const char* /*module*/, const char* format, std::va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  last_message = text;
}

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using Handle = std::unique_ptr<TIFF, Close>;

/// Tags of the current page that all pages must share.
struct Page {
  std::uint32_t nx = 0, ny = 0;
  std::uint16_t bits = 0, format = 0;
  bool operator==(const Page&) const = default;
};

Page read_page(TIFF* tiff, const std::string& path, std::size_t number) {
  Page page;
  std::uint16_t samples = 1, photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page.nx);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page.ny);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  require(page.nx > 0 && page.ny > 0, "{}: page {} has the size {} x {}", path, number, page.nx, page.ny);
  require(samples == 1 && (photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE),
          "{}: page {} is in colour ({} values per pixel, photometric {}); one gray value per pixel is needed, convert "
          "the image",
          path, number, samples, photometric);
  return page;
}

VoxelType type_of(const Page& page, const std::string& path) {
  const bool real = page.format == SAMPLEFORMAT_IEEEFP, sign = page.format == SAMPLEFORMAT_INT;
  if (real && page.bits == 32) return VoxelType::float32;
  if (real && page.bits == 64) return VoxelType::float64;
  if (!real && page.bits == 8) return sign ? VoxelType::int8 : VoxelType::uint8;
  if (!real && page.bits == 16) return sign ? VoxelType::int16 : VoxelType::uint16;
  if (!real && page.bits == 32) return sign ? VoxelType::int32 : VoxelType::uint32;
  throw Error(
      fmt::format("{}: {} bits per pixel of sample format {}; 8, 16 or 32 bit integers and 32 or 64 bit "
                  "floating point numbers are read",
                  path, page.bits, page.format));
}

const char* description_of(TIFF* tiff) {
  const char* text = nullptr;
  return TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text ? text : "";
}

/// Value of a line `key=value` that ImageJ writes into the description; empty when there is none.
std::string imagej_value(TIFF* tiff, const std::string& key) {
  const std::string text = description_of(tiff);
  const std::size_t at = text.starts_with("ImageJ=") ? text.find("\n" + key + "=") : std::string::npos;
  if (at == std::string::npos) return "";
  const std::size_t start = at + key.size() + 2;
  return text.substr(start, text.find('\n', start) - start);
}

/// Voxel width from the resolution tags, in the unit that the tags or ImageJ name; ImageJ states the one in z, too.
void read_voxel(TIFF* tiff, ImageInfo& info) {
  float x = 0, y = 0;
  std::uint16_t unit = RESUNIT_NONE;
  if (!TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y)) return;
  if (!(x > 0 && y > 0)) return;
  TIFFGetField(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
  const std::string named = imagej_value(tiff, "unit");
  if (const double metre = metres_of(named); metre > 0) {
    const double z = std::atof(imagej_value(tiff, "spacing").c_str());
    set_spacing(info, {1 / double{x}, 1 / double{y}, z > 0 ? z : 1 / double{x}}, metre);
  } else if (!named.empty() && named != "pixel" && named != "inch") {
    info.voxel_note = fmt::format("its unit \"{}\" is unknown", named);
  } else if (unit != RESUNIT_NONE) {
    const double metre_of_tag = unit == RESUNIT_INCH ? 0.0254 : 0.01;
    set_resolution(info, metre_of_tag / double{x}, metre_of_tag / double{y});
  }
}

/// Planes that ImageJ states: its large stacks have one page for all, and libtiff shows the first plane only.
unsigned imagej_planes(TIFF* tiff) {
  unsigned planes = 0;
  return std::sscanf(imagej_value(tiff, "images").c_str(), "%u", &planes) == 1 ? planes : 0;
}

/// Such a stack read as what it is: all planes one behind the other.
std::unique_ptr<ImageFile> open_hidden_planes(TIFF* tiff, ImageInfo info, unsigned planes, const Page& page,
                                              std::size_t pages) {
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  require(
      pages == 1 && compression == COMPRESSION_NONE && !TIFFIsTiled(tiff) && planes < 1u << 31,
      "{}: ImageJ states {} planes, the file has pages for {}; it is damaged, or save it as raw or as a BigTIFF with "
      "a page per plane",
      info.path, planes, pages);
  RawLayout layout;
  layout.size = {static_cast<int>(page.nx), static_cast<int>(page.ny), static_cast<int>(planes)};
  layout.type = info.type;
  layout.big_endian = TIFFIsBigEndian(tiff) != 0;
  layout.skip_bytes = static_cast<std::int64_t>(TIFFGetStrileOffset(tiff, 0));
  const std::string path = info.path;
  return open_voxels(std::move(info), path, layout, false);
}

class TiffImage : public ImageFile {
 public:
  TiffImage(ImageInfo description, Handle tiff, std::vector<toff_t> pages)
      : ImageFile(std::move(description)), tiff_(std::move(tiff)), pages_(std::move(pages)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    last_message.clear();
    check(TIFFSetSubDirectory(tiff_.get(), pages_[z]) == 1, z);
    plane_.resize(values.size() * static_cast<std::size_t>(bytes_of(info().type)));
    check_sums(z);
    if (TIFFIsTiled(tiff_.get())) {
      read_tiles(z);
    } else {
      read_strips(z);
    }
    to_float(plane_.data(), info().type, values);
  }

  /// libtiff stops before the check sum of what zlib compressed: it is looked at when a page is read for the first
  /// time.
  void check_sums(int z) {
    std::uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_COMPRESSION, &compression);
    const bool zlib = compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
    if (!zlib || checked_[z]) return;
    TIFF* const t = tiff_.get();
    const bool tiles = TIFFIsTiled(t) != 0;
    const auto all = static_cast<std::uint64_t>(bytes_in(info().path));
    for (std::uint32_t s = 0; s < (tiles ? TIFFNumberOfTiles(t) : TIFFNumberOfStrips(t)); ++s) {
      std::vector<char> raw(std::min<std::uint64_t>(TIFFGetStrileByteCount(t, s), all));
      const auto length = static_cast<tmsize_t>(raw.size());
      check((tiles ? TIFFReadRawTile : TIFFReadRawStrip)(t, s, raw.data(), length) == length, z);
      check_inflated(raw, info().path);
    }
    checked_[z] = true;
  }

  void read_strips(int z) {
    std::size_t at = 0;
    for (std::uint32_t s = 0; s < TIFFNumberOfStrips(tiff_.get()); ++s) {
      const tmsize_t n =
          TIFFReadEncodedStrip(tiff_.get(), s, plane_.data() + at, static_cast<tmsize_t>(plane_.size() - at));
      check(n >= 0, z);
      at += static_cast<std::size_t>(n);
    }
    check(at == plane_.size(), z);
  }

  void read_tiles(int z) {
    std::uint32_t tx = 0, ty = 0;
    TIFFGetField(tiff_.get(), TIFFTAG_TILEWIDTH, &tx);
    TIFFGetField(tiff_.get(), TIFFTAG_TILELENGTH, &ty);
    check(tx > 0 && ty > 0, z);
    const auto nx = static_cast<std::uint32_t>(info().size[0]), ny = static_cast<std::uint32_t>(info().size[1]);
    const auto width = static_cast<std::size_t>(bytes_of(info().type));
    std::vector<char> tile(TIFFTileSize(tiff_.get()));
    check(tile.size() >= std::size_t{tx} * ty * width, z);
    for (std::uint32_t y = 0; y < ny; y += ty)
      for (std::uint32_t x = 0; x < nx; x += tx) {
        check(TIFFReadTile(tiff_.get(), tile.data(), x, y, 0, 0) >= 0, z);
        for (std::uint32_t row = 0; row < std::min(ty, ny - y); ++row)
          std::memcpy(plane_.data() + (std::size_t{y + row} * nx + x) * width,
                      tile.data() + std::size_t{row} * tx * width, std::min(tx, nx - x) * width);
      }
  }

  void check(bool ok, int z) const {
    require(ok, "{}: page {} cannot be read: {}", info().path, z, last_message.empty() ? "data missing" : last_message);
  }

  Handle tiff_;
  std::vector<toff_t> pages_;
  std::vector<bool> checked_ = std::vector<bool>(pages_.size());
  std::vector<char> plane_;
};

}  // namespace

std::unique_ptr<ImageFile> open_tiff(const std::string& path) {
  TIFFSetErrorHandler(keep_message);
  TIFFSetWarningHandler(nullptr);
  last_message.clear();
  Handle tiff(TIFFOpen(path.c_str(), "r"));
  require(tiff != nullptr, "{}: is no TIFF file that can be read: {}", path, last_message);
  ImageInfo info;
  info.path = path;
  info.format = "TIFF";
  const Page first = read_page(tiff.get(), path, 0);
  info.type = type_of(first, path);
  read_voxel(tiff.get(), info);
  std::vector<toff_t> pages;
  do {
    const Page page = read_page(tiff.get(), path, pages.size());
    require(page == first,
            "{}: page {} is {} x {} with {} bits (format {}), page 0 is {} x {} with {} bits (format {}); all must be "
            "alike",
            path, pages.size(), page.nx, page.ny, page.bits, page.format, first.nx, first.ny, first.bits, first.format);
    pages.push_back(TIFFCurrentDirOffset(tiff.get()));
    last_message.clear();
  } while (TIFFReadDirectory(tiff.get()));
  require(last_message.empty(), "{}: damaged after page {}: {}", path, pages.size() - 1, last_message);
  TIFFSetSubDirectory(tiff.get(), pages.front());
  if (const unsigned planes = imagej_planes(tiff.get()); planes > pages.size())
    return open_hidden_planes(tiff.get(), std::move(info), planes, first, pages.size());
  check_tiff_extents(path);
  info.size = {static_cast<int>(first.nx), static_cast<int>(first.ny), static_cast<int>(pages.size())};
  return std::make_unique<TiffImage>(std::move(info), std::move(tiff), std::move(pages));
}

}  // namespace karst
