// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moving_picture.hpp"

#include <gtest/gtest.h>

#include "base/file/json.hpp"
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

PlaneFrames three_frames() {
  PlaneFrames frames;
  for (int k = 0; k < 3; ++k) frames.add({2, 0, 2, 1, {0.5 * k, 1.0}}, 0.25 * k);
  return frames;
}

// A button for playing, which is pressed, one for stopping and one for each frame; each frame has its picture and time.
TEST(MovingPicture, FiguresCanBeStoppedAndStepped) {
  PlaneLook look;
  look.quantity = "speed";
  const std::string figure = moving_figure(three_frames(), look);
  const auto count = [&](const std::string& word) {
    int n = 0;
    for (std::size_t at = 0; (at = figure.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("<input type=\"radio\""), 5);
  EXPECT_EQ(count("checked=\"\""), 1);
  EXPECT_EQ(count("<g class=\"frame\"><image"), 3);
  for (const char* time : {">t = 0 s<", ">t = 250 ms<", ">t = 500 ms<"}) EXPECT_EQ(count(time), 1) << time;
  EXPECT_PRED2(test::has, figure,
               ".film3 input:nth-of-type(5):checked~figure .frame:nth-of-type(3){visibility:visible}");
  EXPECT_PRED2(test::has, figure, "animation-play-state:paused");
  EXPECT_EQ(count("<script"), 0) << "pages have none";
}

TEST(MovingPicture, TimesStayWithTheirFrames) {
  PlaneFrames frames = three_frames();
  EXPECT_EQ(frames_of(frames_json(frames)).times, (std::vector<double>{0.0, 0.25, 0.5}));
  frames.thin();
  EXPECT_EQ(frames.times, (std::vector<double>{0.0, 0.5}));
  EXPECT_EQ(frames.values, (std::vector<std::vector<float>>{{0.0F, 1.0F}, {1.0F, 1.0F}}));
  frames.keep(1);
  EXPECT_EQ(frames.times, std::vector<double>{0.0});
  EXPECT_EQ(std::ssize(frames.values), 1);
  const std::vector<std::string> stills = still_figures(three_frames(), {});
  ASSERT_EQ(stills.size(), 3U);
  EXPECT_PRED2(test::has, stills[1], "<figcaption>250 ms</figcaption>");
}

TEST(MovingPicture, RefusesPicturesOfDifferentSizes) {
  const std::vector<Picture> pictures{Picture(2, 2, 3), Picture(3, 2, 3)};
  EXPECT_TRUE(test::has(test::error_of([&] { animated_png(pictures, 0.1); }), "different sizes"));
  EXPECT_TRUE(test::has(test::error_of([&] { animated_png({}, 0.1); }), "needs at least one frame"));
}

}  // namespace
}  // namespace karst::moving_picture_test
