// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moving_picture.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace karst::moving_picture_test {
namespace {

/// Chunks of a PNG file: type and data.
std::vector<std::pair<std::string, std::string>> chunks(const std::string& file) {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t at = 8, n = 0; at < file.size(); at += n + 12) {
    n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(file[at + i]);
    all.emplace_back(file.substr(at + 4, 4), file.substr(at + 8, n));
  }
  return all;
}

// The data of frame k are those of picture k alone; the chunks in between are numbered without a gap. CRC of the end
// of every PNG: ae 42 60 82.
TEST(MovingPicture, HoldsEveryFrame) {
  std::vector<Picture> pictures;
  for (int k = 0; k < 3; ++k) {
    Picture& p = pictures.emplace_back(150, 130, 3);
    for (std::size_t i = 0; i < p.values.size(); ++i) p.values[i] = static_cast<std::uint8_t>(i * i * (37 + k) >> 3);
  }
  const std::string file = animated_png(pictures, 0.25);
  EXPECT_EQ(file.substr(file.size() - 12), std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
  std::vector<std::string> frames, wanted;
  std::size_t number = 0;
  for (const auto& [type, data] : chunks(file)) {
    if (type == "acTL") {
      EXPECT_EQ(data, std::string("\0\0\0\3\0\0\0\0", 8));
    }
    if (type == "fcTL" || type == "fdAT") {
      EXPECT_EQ(static_cast<unsigned char>(data[3]), number++);
    }
    if (type == "fcTL") {
      frames.emplace_back();
      EXPECT_EQ(data.substr(4), std::string("\0\0\0\x96\0\0\0\x82\0\0\0\0\0\0\0\0\0\xfa\x03\xe8\0\0", 22));
    }
    if (type == "IDAT") frames.at(0) += data;
    if (type == "fdAT") frames.back() += data.substr(4);
  }
  for (const Picture& p : pictures) {
    wanted.emplace_back();
    for (const auto& [type, data] : chunks(png(p)))
      if (type == "IDAT") wanted.back() += data;
  }
  EXPECT_EQ(frames, wanted);
}

TEST(MovingPicture, RefusesPicturesOfDifferentSizes) {
  const std::vector<Picture> pictures{Picture(2, 2, 3), Picture(3, 2, 3)};
  EXPECT_TRUE(test::has(test::error_of([&] { animated_png(pictures, 0.1); }), "different sizes"));
  EXPECT_TRUE(test::has(test::error_of([&] { animated_png({}, 0.1); }), "needs at least one frame"));
}

}  // namespace
}  // namespace karst::moving_picture_test
