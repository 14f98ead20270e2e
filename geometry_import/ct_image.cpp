// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/ct_image.hpp"

#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>

#include "base/atomic_file.hpp"
#include "base/parallel.hpp"
#include "geometry_import/fail_together.hpp"
#include "geometry_import/level_set.hpp"
#include "geometry_import/random_numbers.hpp"

namespace karst {
namespace {

thread_local std::string tiff_message;

void keep_tiff_message(const char* /*module*/, const char* format, std::va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  tiff_message = text;
}

void check(const CtOptions& o) {
  require(o.blur >= 0 && o.blur <= 8, "blur {} voxels given; allowed are 0 to 8", o.blur);
  require(o.noise >= 0 && o.noise <= 10, "noise {} given; allowed are 0 to 10 (times the contrast)", o.noise);
  require(o.photons == 0 || (o.photons >= 20 && o.photons <= 1e12), "photons {} given; allowed are 0 and 20 to 1e12",
          o.photons);
  require(o.ring >= 0 && o.ring <= 10, "ring {} given; allowed are 0 to 10 (times the contrast)", o.ring);
  require(o.bits == 8 || o.bits == 16, "bits {} given; allowed are 8 and 16", o.bits);
}

struct CloseTiff {
  void operator()(TIFF* t) const { TIFFClose(t); }
};

void write_page(TIFF* tiff, const Index& size, const std::uint16_t* values, int bits) {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t n = 0; n < std::int64_t{size[0]} * size[1]; ++n) {
    if (bits == 8) {
      bytes.push_back(static_cast<std::uint8_t>(values[n]));
    } else {
      const auto* two = reinterpret_cast<const std::uint8_t*>(values + n);
      bytes.insert(bytes.end(), two, two + 2);
    }
  }
  const std::size_t row = static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(bits / 8);
  bool ok = true;
  for (int y = 0; y < size[1] && ok; ++y)
    ok = TIFFWriteScanline(tiff, bytes.data() + static_cast<std::size_t>(y) * row, static_cast<std::uint32_t>(y)) == 1;
  require(ok && TIFFWriteDirectory(tiff) == 1, "writing a TIFF page failed: {}", tiff_message);
}

void set_tags(TIFF* tiff, const Index& size, int bits, TiffCompression compression, double voxel) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size[0]));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size[1]));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION,
               compression == TiffCompression::none  ? COMPRESSION_NONE
               : compression == TiffCompression::lzw ? COMPRESSION_LZW
                                                     : COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0));
  if (voxel <= 0) return;
  TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
  TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 0.01 / voxel);
  TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 0.01 / voxel);
}

}  // namespace

std::vector<std::uint16_t> ct_image(const Index& size, std::vector<float> fraction, const CtOptions& o) {
  check(o);
  gaussian({size, 0, size[2]}, o.blur, fraction);
  const RandomNumbers noise(o.seed, 11), photons(o.seed, 12), rings(o.seed, 13);
  const double scale = o.bits == 8 ? 1 : 257, contrast = grain_gray - pore_gray, most = o.bits == 8 ? 255 : 65535;
  std::vector<std::uint16_t> image(fraction.size());
  parallel_for(std::int64_t{size[1]} * size[2], [&](std::int64_t row) {
    const double dy = double(row % size[1]) + 0.5 - 0.5 * size[1];
    for (int x = 0; x < size[0]; ++x) {
      const auto n = static_cast<std::uint64_t>(row * size[0] + x);
      const double dx = x + 0.5 - 0.5 * size[0];
      double gray = pore_gray + contrast * double{fraction[n]};
      if (o.photons > 0) gray += grain_gray * std::sqrt(gray / grain_gray / o.photons) * photons.normal(n);
      gray += contrast * o.noise * noise.normal(n);
      gray += contrast * o.ring * rings.normal(static_cast<std::uint64_t>(std::sqrt(dx * dx + dy * dy)));
      image[n] = static_cast<std::uint16_t>(std::clamp(std::round(scale * gray), 0.0, most));
    }
  });
  return image;
}

void write_tiff(const Comm& comm, const std::string& path, const Index& size, const std::vector<std::uint16_t>& values,
                int bits, TiffCompression compression, double voxel) {
  AtomicFile target(comm, path);
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    TIFFSetErrorHandler(keep_tiff_message);
    const double bytes = static_cast<double>(values.size()) * bits / 8;
    std::unique_ptr<TIFF, CloseTiff> tiff(TIFFOpen(target.temporary().c_str(), bytes > 3.9e9 ? "w8" : "w"));
    require(tiff != nullptr, "{}: cannot write: {}", path, tiff_message);
    for (int z = 0; z < size[2]; ++z) {
      set_tags(tiff.get(), size, bits, compression, voxel);
      write_page(tiff.get(), size, values.data() + std::int64_t{z} * size[0] * size[1], bits);
    }
    tiff_message.clear();
    TIFFClose(tiff.release());
    require(tiff_message.empty(), "{}: cannot write: {}", path, tiff_message);
  });
  target.commit();
}

}  // namespace karst
