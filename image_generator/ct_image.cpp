// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/ct_image.hpp"

#include <tiffio.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <optional>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/file/atomic_file.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst {
namespace {

thread_local std::string tiff_message;

void keep_tiff_message(const char* /*module*/, const char* format, std::va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  tiff_message = text;
}

struct CloseTiff {
  void operator()(TIFF* t) const { TIFFClose(t); }
};

void write_page(TIFF* tiff, const ImageBytes& image, int z) {
  const std::size_t row = static_cast<std::size_t>(image.size[0]) * static_cast<std::size_t>(image.bits / 8);
  const auto rows = static_cast<std::size_t>(image.size[1]);
  std::vector<std::uint8_t> line(row);  // libtiff may change what it is given
  bool ok = true;
  for (std::size_t y = 0; y < rows && ok; ++y) {
    std::copy_n(image.bytes.data() + (static_cast<std::size_t>(z) * rows + y) * row, row, line.data());
    ok = TIFFWriteScanline(tiff, line.data(), static_cast<std::uint32_t>(y)) == 1;
  }
  require(ok && TIFFWriteDirectory(tiff) == 1, "writing a TIFF page failed: {}", tiff_message);
}

void set_tags(TIFF* tiff, const Index& size, int bits, TiffCompression compression, double voxel) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size[0]));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size[1]));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
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

/// Writes planes [first, last) as the pages of one file.
void write_pages(const Comm& comm, const std::string& path, const ImageBytes& image, int first, int last,
                 TiffCompression compression, double voxel) {
  AtomicFile target(comm, path);
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    TIFFSetErrorHandler(keep_tiff_message);
    const double bytes = static_cast<double>(image.bytes.size()) / image.size[2] * (last - first);
    std::unique_ptr<TIFF, CloseTiff> tiff(TIFFOpen(target.temporary().c_str(), bytes > 3.9e9 ? "w8" : "w"));
    require(tiff != nullptr, "{}: cannot write: {}", path, tiff_message);
    for (int z = first; z < last; ++z) {
      set_tags(tiff.get(), image.size, image.bits, compression, voxel);
      write_page(tiff.get(), image, z);
    }
    tiff_message.clear();
    TIFFClose(tiff.release());
    require(tiff_message.empty(), "{}: cannot write: {}", path, tiff_message);
  });
  target.commit();
}

/// Where a pattern like %04d stands in a path; nothing when there is none. Throws Error for other uses of %.
struct NumberPattern {
  std::size_t begin, end;
  int width;
};
std::optional<NumberPattern> number_pattern(const std::string& path) {
  const std::size_t begin = path.find('%');
  if (begin == std::string::npos) return {};
  const std::size_t end = path.find_first_not_of("0123456789", begin + 1);
  require(end != std::string::npos && path[end] == 'd' && end - begin <= 3 && path.find('%', end) == std::string::npos,
          "{}: the plane number must be written as a single %d or, with four digits, %04d", path);
  const int width = end == begin + 1 ? 1 : std::stoi(path.substr(begin + 1, end - begin - 1));
  return NumberPattern{begin, end + 1, width};
}

/// Gray value of voxel n of a row, units of 8 bit.
class Gray {
 public:
  Gray(const Index& size, const CtOptions& o)
      : size_(size), o_(o), noise_(o.seed, 11), photons_(o.seed, 12), rings_(o.seed, 13) {}
  /// f(n, gray) for the voxels of a row.
  template <class F>
  void row(std::int64_t row, const std::vector<float>& fraction, F&& f) const {
    const double dy = double(row % size_[1]) + 0.5 - 0.5 * size_[1];
    const double rim = 0.5 * std::min(size_[0], size_[1]);
    const double height = size_[2] > 1 ? double(row / size_[1]) / (size_[2] - 1) - 0.5 : 0.0;
    for (int x = 0; x < size_[0]; ++x) {
      const auto n = static_cast<std::uint64_t>(row * size_[0] + x);
      const double dx = x + 0.5 - 0.5 * size_[0];
      double gray = pore_gray + contrast * double{fraction[n]};
      if (o_.photons > 0)
        gray += grain_gray * std::sqrt(std::max(gray, 0.0) / grain_gray / o_.photons) * photons_.normal(n);
      gray += contrast * o_.noise * noise_.normal(n);
      gray += contrast * o_.ring * rings_.normal(static_cast<std::uint64_t>(std::sqrt(dx * dx + dy * dy)));
      gray += contrast * o_.drift * height + contrast * o_.beam * (dx * dx + dy * dy) / (rim * rim);
      f(n, gray);
    }
  }

 private:
  static constexpr double contrast = grain_gray - pore_gray;
  Index size_;
  CtOptions o_;
  RandomNumbers noise_, photons_, rings_;
};

}  // namespace

void check(const CtOptions& o) {
  require(o.blur >= 0 && o.blur <= 8, "blur {} voxels given; allowed are 0 to 8", o.blur);
  require(o.noise >= 0 && o.noise <= 10, "noise {} given; allowed are 0 to 10 (times the contrast)", o.noise);
  require(o.photons == 0 || (o.photons >= 20 && o.photons <= 1e12), "photons {} given; allowed are 0 and 20 to 1e12",
          o.photons);
  require(o.ring >= 0 && o.ring <= 10, "ring {} given; allowed are 0 to 10 (times the contrast)", o.ring);
  require(o.drift >= -10 && o.drift <= 10, "drift {} given; allowed are -10 to 10 (times the contrast)", o.drift);
  require(o.beam >= -10 && o.beam <= 10, "beam {} given; allowed are -10 to 10 (times the contrast)", o.beam);
  require(o.bits == 8 || o.bits == 16 || o.bits == 32, "bits {} given; allowed are 8, 16 and 32", o.bits);
}

std::vector<std::uint16_t> ct_image(const Index& size, std::vector<float> fraction, const CtOptions& o) {
  check(o);
  require(o.bits != 32, "bits 32 given; allowed for integers are 8 and 16");
  gaussian({size, 0, size[2]}, o.blur, fraction);
  const double scale = o.bits == 8 ? 1 : 257, most = o.bits == 8 ? 255 : 65535;
  const Gray gray(size, o);
  std::vector<std::uint16_t> image(fraction.size());
  parallel_for(std::int64_t{size[1]} * size[2], [&](std::int64_t row) {
    gray.row(row, fraction, [&](std::uint64_t n, double value) {
      image[n] = static_cast<std::uint16_t>(std::clamp(std::round(scale * value), 0.0, most));
    });
  });
  return image;
}

std::vector<float> ct_image_float(const Index& size, std::vector<float> fraction, const CtOptions& o) {
  check(o);
  gaussian({size, 0, size[2]}, o.blur, fraction);
  const Gray gray(size, o);
  parallel_for(std::int64_t{size[1]} * size[2], [&](std::int64_t row) {
    gray.row(row, fraction, [&](std::uint64_t n, double value) { fraction[n] = static_cast<float>(value); });
  });
  return fraction;
}

ImageBytes image_bytes(const Index& size, const std::vector<std::uint16_t>& values, int bits) {
  ImageBytes image{size, bits, {}};
  image.bytes.reserve(values.size() * static_cast<std::size_t>(bits / 8));
  for (const std::uint16_t v : values) {
    image.bytes.push_back(static_cast<std::uint8_t>(v & 0xff));
    if (bits == 16) image.bytes.push_back(static_cast<std::uint8_t>(v >> 8));
  }
  return image;
}

ImageBytes image_bytes(const Index& size, const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little, "images are written low byte first");
  ImageBytes image{size, 32, std::vector<std::uint8_t>(values.size() * sizeof(float))};
  if (!values.empty()) std::memcpy(image.bytes.data(), values.data(), image.bytes.size());
  return image;
}

void write_image(const Comm& comm, const std::string& path, const ImageBytes& image, TiffCompression compression,
                 double voxel) {
  const auto pattern = number_pattern(path);
  const bool tiff = path.ends_with(".tif") || path.ends_with(".tiff");
  require(tiff || (!pattern && path.ends_with(".raw")),
          "{}: images are written as NAME.tif, as a stack NAME_%04d.tif, or as NAME.raw", path);
  if (!tiff) {
    write_file(comm, path, {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});
  } else if (!pattern) {
    write_pages(comm, path, image, 0, image.size[2], compression, voxel);
  } else {
    for (int z = 0; z < image.size[2]; ++z) {
      const std::string number = fmt::format("{:0{}d}", z, pattern->width);
      write_pages(comm, path.substr(0, pattern->begin) + number + path.substr(pattern->end), image, z, z + 1,
                  compression, voxel);
    }
  }
}

void write_tiff(const Comm& comm, const std::string& path, const Index& size, const std::vector<std::uint16_t>& values,
                int bits, TiffCompression compression, double voxel) {
  write_pages(comm, path, image_bytes(size, values, bits), 0, size[2], compression, voxel);
}

}  // namespace karst
