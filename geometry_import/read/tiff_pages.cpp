// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/tiff_pages.hpp"

#include <tiffio.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "base/math/no_number.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

std::uint32_t tag_or(TIFF* tiff, std::uint32_t tag, std::uint32_t otherwise) {
  std::uint32_t value = otherwise;
  return TIFFGetField(tiff, tag, &value) == 1 ? value : otherwise;
}

std::uint16_t short_or(TIFF* tiff, std::uint32_t tag, std::uint16_t otherwise) {
  std::uint16_t value = otherwise;
  return TIFFGetField(tiff, tag, &value) == 1 ? value : otherwise;
}

/// FILETYPE_REDUCEDIMAGE and FILETYPE_MASK of SubfileType, or its older form.
bool is_aside(TIFF* tiff) {
  const std::uint32_t kind = tag_or(tiff, TIFFTAG_SUBFILETYPE, 0);
  return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0 ||
         short_or(tiff, TIFFTAG_OSUBFILETYPE, 0) == OFILETYPE_REDUCEDIMAGE;
}

/// Colours of the indices of the current page.
std::vector<std::array<int, 3>> palette_of(TIFF* tiff, const TiffPage& page, const std::string& path) {
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  require(page.bits <= 16 && TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) == 1,
          "{}: its colour palette is missing", path);
  std::vector<std::array<int, 3>> all;
  for (std::size_t n = 0; n < std::size_t{1} << page.bits; ++n) all.push_back({red[n], green[n], blue[n]});
  return all;
}

/// What is told of all pages together: where 0 is white, palettes, orientations.
void tell_of_pages(TIFF* tiff, const std::vector<TiffPage>& pages, ImageInfo& info) {
  const TiffPage& first = pages.front();
  const auto white = std::count_if(pages.begin(), pages.end(), [](const TiffPage& p) { return p.white_is_zero; });
  if (white == static_cast<std::ptrdiff_t>(pages.size())) {
    info.black = black_of(first);
  } else if (white > 0) {
    info.notes.push_back(
        fmt::format("in {} of the {} pages 0 is white: their values are inverted, as 0 is black in the others", white,
                    pages.size()));
  }
  if (first.palette) set_palette(info, palette_of(tiff, first, info.path));
  const auto moved =
      std::count_if(pages.begin(), pages.end(), [](const TiffPage& p) { return p.orientation != ORIENTATION_TOPLEFT; });
  if (moved > 0)
    info.notes.push_back(fmt::format("its pixels are rotated or mirrored according to its tag Orientation ({}{})",
                                     first.orientation, first.turned() ? ": rows are columns" : ""));
}

}  // namespace

std::string& last_tiff_message() {
  thread_local std::string message;
  return message;
}

bool TiffPage::like(const TiffPage& o) const {
  return nx == o.nx && ny == o.ny && nz == o.nz && bits == o.bits && format == o.format && palette == o.palette &&
         turned() == o.turned();
}

bool is_half(const TiffPage& page) { return page.format == SAMPLEFORMAT_IEEEFP && page.bits == 16; }

double black_of(const TiffPage& page) {
  const bool positive = page.format == SAMPLEFORMAT_UINT || page.format == SAMPLEFORMAT_VOID;
  return positive && page.bits <= 32 ? std::ldexp(1.0, page.bits) - 1 : no_number;
}

TiffPage read_tiff_page(TIFF* tiff, const std::string& path, std::size_t number) {
  TiffPage page;
  std::uint16_t samples = 1;
  page.place = TIFFCurrentDirOffset(tiff);
  page.nx = tag_or(tiff, TIFFTAG_IMAGEWIDTH, 0);
  page.ny = tag_or(tiff, TIFFTAG_IMAGELENGTH, 0);
  page.nz = tag_or(tiff, TIFFTAG_IMAGEDEPTH, 1);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  page.orientation = short_or(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  const std::uint16_t photometric = short_or(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  page.white_is_zero = photometric == PHOTOMETRIC_MINISWHITE;
  page.palette = photometric == PHOTOMETRIC_PALETTE;
  page.aside = is_aside(tiff);
  require(page.nx > 0 && page.ny > 0 && page.nz > 0, "{}: page {} has the size {} x {} x {}", path, number, page.nx,
          page.ny, page.nz);
  require(
      page.aside || (samples == 1 && (page.white_is_zero || page.palette || photometric == PHOTOMETRIC_MINISBLACK)),
      "{}: page {} is in colour or has transparency ({} values per pixel, photometric {}); one gray value per pixel "
      "is needed, convert the image",
      path, number, samples, photometric);
  require(page.orientation >= ORIENTATION_TOPLEFT && page.orientation <= ORIENTATION_LEFTBOT,
          "{}: page {} has the orientation {}; allowed are 1 to 8", path, number, page.orientation);
  return page;
}

std::vector<TiffPage> read_tiff_pages(TIFF* tiff, ImageInfo& info) {
  std::vector<TiffPage> pages;
  std::size_t aside = 0, number = 0;
  do {
    const TiffPage page = read_tiff_page(tiff, info.path, number++);
    aside += page.aside;
    if (!page.aside) pages.push_back(page);
    const TiffPage& first = pages.empty() ? page : pages.front();
    require(page.aside || page.like(first),
            "{}: page {} is {} x {} with {} bits (format {}), page 0 is {} x {} with {} bits (format {}); all must be "
            "equal",
            info.path, number - 1, page.nx, page.ny, page.bits, page.format, first.nx, first.ny, first.bits,
            first.format);
    last_tiff_message().clear();
  } while (TIFFReadDirectory(tiff));
  require(last_tiff_message().empty(), "{}: damaged after page {}: {}", info.path, number - 1, last_tiff_message());
  require(!pages.empty(), "{}: all its pages are reduced copies or masks of another image", info.path);
  TIFFSetSubDirectory(tiff, pages.front().place);
  if (aside > 0)
    info.notes.push_back(fmt::format("{} of its {} pages are reduced copies or masks and were skipped", aside, number));
  tell_of_pages(tiff, pages, info);
  return pages;
}

VoxelType type_of(const TiffPage& page, const std::string& path) {
  const bool real = page.format == SAMPLEFORMAT_IEEEFP, sign = page.format == SAMPLEFORMAT_INT,
             whole = sign || page.format == SAMPLEFORMAT_UINT || page.format == SAMPLEFORMAT_VOID;
  if (real && (page.bits == 32 || is_half(page))) return VoxelType::float32;
  if (real && page.bits == 64) return VoxelType::float64;
  if (whole && !sign && (page.bits == 1 || page.bits == 2 || page.bits == 4)) return VoxelType::uint8;
  if (whole && page.bits == 8) return sign ? VoxelType::int8 : VoxelType::uint8;
  if (whole && page.bits == 16) return sign ? VoxelType::int16 : VoxelType::uint16;
  if (whole && page.bits == 32) return sign ? VoxelType::int32 : VoxelType::uint32;
  if (whole && page.bits == 64) return sign ? VoxelType::int64 : VoxelType::uint64;
  throw Error(
      fmt::format("{}: {} bits per pixel of sample format {}; integers of 1, 2, 4, 8, 16, 32 or 64 bits and floating "
                  "point numbers of 16, 32 or 64 are read",
                  path, page.bits, page.format));
}

void orient(const TiffPage& page, std::span<const float> stored, std::span<float> values) {
  const std::size_t nx = page.nx, ny = page.ny;
  const auto o = page.orientation;
  const bool right = o == ORIENTATION_TOPRIGHT || o == ORIENTATION_BOTRIGHT || o == ORIENTATION_RIGHTTOP ||
                     o == ORIENTATION_RIGHTBOT,
             bottom = o == ORIENTATION_BOTRIGHT || o == ORIENTATION_BOTLEFT || o == ORIENTATION_RIGHTBOT ||
                      o == ORIENTATION_LEFTBOT;
  for (std::size_t row = 0; row < ny; ++row)
    for (std::size_t column = 0; column < nx; ++column) {
      const float v = stored[row * nx + column];
      if (page.turned()) {  // stored rows run down the image: row 0 is a side of it, column 0 its top or bottom
        const std::size_t x = right ? ny - 1 - row : row, y = bottom ? nx - 1 - column : column;
        values[y * ny + x] = v;
      } else {
        const std::size_t x = right ? nx - 1 - column : column, y = bottom ? ny - 1 - row : row;
        values[y * nx + x] = v;
      }
    }
}

}  // namespace karst
