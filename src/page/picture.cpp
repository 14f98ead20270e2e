// SPDX-License-Identifier: BSD-3-Clause
#include "page/picture.hpp"

#include <png.h>

#include <cassert>

#include "base/core/error.hpp"

namespace karst {

Picture::Picture(int width_pixels, int height_pixels, int n_channels)
    : width(width_pixels), height(height_pixels), channels(n_channels) {
  assert(width >= 0 && height >= 0 && (channels == 1 || channels == 3 || channels == 4));
  values.resize(offset(0, height));
}

std::string png(const Picture& picture) {
  require(!picture.empty(), "a picture of {} x {} pixels cannot be written as PNG: it needs one pixel at least",
          picture.width, picture.height);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  image.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(bytes, '\0');
  const int ok = png_image_write_to_memory(&image, file.data(), &bytes, 0, picture.values.data(), 0, nullptr);
  require(ok != 0, "a picture of {} x {} pixels cannot be written as PNG: {}", picture.width, picture.height,
          image.message);
  file.resize(bytes);
  return file;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < n ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += j <= n ? digits[bits >> (18 - 6 * j) & 63U] : '=';
  }
  return text;
}

std::string data_uri(const Picture& picture) { return "data:image/png;base64," + base64(png(picture)); }

std::string hex(const Rgb& colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]); }

}  // namespace karst
