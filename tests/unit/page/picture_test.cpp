// SPDX-License-Identifier: BSD-3-Clause
#include "page/picture.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include "support/errors.hpp"

namespace karst::picture_test {
namespace {

using test::error_of;
using test::has;

/// Pixels of a PNG file as libpng reads them.
Picture decoded(const std::string& file, int channels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  Picture p(static_cast<int>(image.width), static_cast<int>(image.height), channels);
  EXPECT_NE(png_image_finish_read(&image, nullptr, p.values.data(), 0, nullptr), 0) << image.message;
  return p;
}

TEST(Picture, PngKeepsEveryPixel) {
  for (const int channels : {1, 3, 4}) {
    Picture p(7, 5, channels);
    for (std::size_t i = 0; i < p.values.size(); ++i) p.values[i] = static_cast<std::uint8_t>(37 * i + 11);
    const Picture back = decoded(png(p), channels);
    EXPECT_EQ(back.width, 7);
    EXPECT_EQ(back.height, 5);
    EXPECT_EQ(back.values, p.values) << channels;
  }
}

TEST(Picture, RowsAreFromTheTop) {
  Picture p(3, 2, 3);
  p.pixel(2, 0)[1] = 9;
  EXPECT_EQ(p.values[7], 9);
  EXPECT_EQ(decoded(png(p), 3).pixel(2, 0)[1], 9);
}

TEST(Picture, WithoutPixelsIsAnError) {
  EXPECT_TRUE(has(error_of([] { png(Picture(0, 4, 3)); }), "0 x 4 pixels"));
  EXPECT_TRUE(has(error_of([] { data_uri({}); }), "needs one pixel"));
}

// RFC 4648, section 10.
TEST(Picture, Base64HasItsTestVectors) {
  const std::vector<std::string> codes{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t n = 0; n < codes.size(); ++n) EXPECT_EQ(base64(std::string("foobar").substr(0, n)), codes[n]);
  EXPECT_EQ(base64("\xff\xfe\xfb"), "//77");
}

TEST(Picture, IsInsideOfThePage) {
  EXPECT_TRUE(data_uri(Picture(1, 1, 1)).starts_with("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_EQ(hex({0, 171, 255}), "#00abff");
}

}  // namespace
}  // namespace karst::picture_test
