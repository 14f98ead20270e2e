// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moving_picture.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double seconds = 0.12;  ///< that a frame stays
constexpr int wide = 320;         ///< pixels of a file, at least

std::vector<Picture> pictures(const PlaneFrames& frames, double low, double high) {
  std::vector<Picture> all;
  PlaneValues plane = frames.plane;
  for (const std::vector<float>& values : frames.values) {
    plane.values.assign(values.begin(), values.end());
    all.push_back(picture_of(plane, low, high));
  }
  return all;
}

/// Each pixel as a square of them.
Picture enlarged(const Picture& small, int factor) {
  Picture large(factor * small.width, factor * small.height, small.channels);
  for (int row = 0; row < large.height; ++row)
    for (int column = 0; column < large.width; ++column)
      std::copy_n(small.pixel(column / factor, row / factor), small.channels, large.pixel(column, row));
  return large;
}

std::string big_endian(std::size_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8), static_cast<char>(x)};
}

/// Length, type and data, and their CRC (PNG specification, annex D).
std::string chunk(const std::string& type_and_data) {
  std::uint32_t crc = ~0U;
  for (const char c : type_and_data)
    for (unsigned bit = 0, byte = static_cast<unsigned char>(c); bit < 8; ++bit, byte >>= 1)
      crc = ((crc ^ byte) & 1U) != 0 ? 0xedb88320U ^ crc >> 1 : crc >> 1;
  return big_endian(type_and_data.size() - 4) + type_and_data + big_endian(~crc);
}

}  // namespace

Json frames_json(const PlaneFrames& frames) {
  Json json{{"direction", frames.plane.direction},
            {"plane", frames.plane.plane},
            {"nx", frames.plane.nx},
            {"ny", frames.plane.ny},
            {"bits", Json::array()}};
  for (const std::vector<float>& frame : frames.values) {
    Json& bits = json["bits"].push_back(Json::array());
    for (const float x : frame) bits.push_back(std::bit_cast<std::uint32_t>(x));
  }
  return json;
}

PlaneFrames frames_of(const Json& json) {
  PlaneFrames frames{{json.at("direction"), json.at("plane"), json.at("nx"), json.at("ny"), {}}, {}};
  for (const Json& bits : json.at("bits")) {
    std::vector<float>& frame = frames.values.emplace_back();
    for (const Json& x : bits) frame.push_back(std::bit_cast<float>(x.get<std::uint32_t>()));
  }
  return frames;
}

std::string animated_png(std::span<const Picture> pictures, double seconds) {
  constexpr std::size_t head = 33;  // signature and IHDR
  std::string out;
  std::size_t number = 0;  // of chunks that tell of frames
  for (const Picture& picture : pictures) {
    const std::string frame = png(picture),
                      delay = big_endian(static_cast<std::size_t>(1000.0 * seconds) << 16 | 1000U);
    const bool first = out.empty();
    if (first) out = frame.substr(0, head) + chunk("acTL" + big_endian(pictures.size()) + big_endian(0));
    require(frame.starts_with(out.substr(0, head)), "frames of one animation have different sizes or types");
    out += chunk("fcTL" + big_endian(number++) + frame.substr(16, 8) + std::string(8, 0) + delay + std::string(2, 0));
    for (std::size_t at = head, length = 0; at < frame.size(); at += length + 12) {
      length = std::accumulate(&frame[at], &frame[at + 4], std::size_t{0},
                               [](std::size_t sum, char c) { return sum << 8 | static_cast<unsigned char>(c); });
      if (frame.compare(at + 4, 4, "IDAT") == 0)
        out += chunk((first ? "IDAT" : "fdAT" + big_endian(number++)) + frame.substr(at + 8, length));
    }
  }
  require(!out.empty(), "an animation needs at least one frame");
  return out + chunk("IEND");
}

void PlaneFrames::add(const PlaneValues& values_now) {
  plane = values_now;
  plane.values.clear();
  values.emplace_back(values_now.values.begin(), values_now.values.end());
}

std::string moving_figure(const PlaneFrames& frames, PlaneLook look) {
  look.image = "data:image/png;base64," + base64(animated_png(pictures(frames, look.low, look.high), seconds));
  return plane_figure(frames.plane, look);
}

std::string moving_picture(const PlaneFrames& frames, double low, double high) {
  std::vector<Picture> all = pictures(frames, low, high);
  const int factor = std::max(1, (wide - 1) / std::max(1, std::max(frames.plane.nx, frames.plane.ny)) + 1);
  if (factor > 1)
    for (Picture& picture : all) picture = enlarged(picture, factor);
  return animated_png(all, seconds);
}

}  // namespace karst
