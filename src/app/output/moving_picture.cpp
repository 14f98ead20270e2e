// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/moving_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/core/error.hpp"
#include "base/core/format.hpp"
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

/// One of those of which one is pressed.
std::string button(const char* kind, const std::string& name, bool pressed) {
  return fmt::format("<input type=\"radio\" name=\"film\" class=\"{}\" aria-label=\"{}\" title=\"{}\"{}/>", kind, name,
                     name, pressed ? " checked=\"\"" : "");
}

/// Of buttons, and of n frames that are shown one after the other; on paper the last one is.
std::string film_styles(std::size_t n) {
  std::string out = fmt::format(
      R"(.film{{display:flex;flex-wrap:wrap;align-items:center}}.film figure{{flex:0 0 100%;order:-1}}
.film input{{appearance:none;-webkit-appearance:none;margin:0;cursor:pointer;height:16px}}
.film .play,.film .stop{{width:16px;height:18px;margin-right:10px;background:#5b6673}}
.film .play{{clip-path:polygon(0 0,100% 50%,0 100%)}}.film .stop{{clip-path:polygon(0 0,36% 0,36% 100%,64% 100%,64% 0,100% 0,100% 100%,0 100%)}}
.film .step{{flex:1 1 3px;background:#c9d1da;border-right:1px solid #fff}}.film input:checked{{background:#1f5a8c}}.film .step:focus-visible{{outline:2px solid #1d2733}}
.film .frame{{visibility:hidden}}.film{0} .play:checked~figure .frame,.film{0} .stop:checked~figure .frame{{animation:film{0} {1:.2f}s step-end infinite}}
.film .stop:checked~figure .frame{{animation-play-state:paused!important}}
@keyframes film{0}{{0%{{visibility:visible}}{2:.4f}%{{visibility:hidden}}100%{{visibility:hidden}}}}
@media print{{.film input{{display:none}}.film .frame{{animation:none!important}}.film{0} .frame:nth-of-type({0}){{visibility:visible}}}}
)",
      n, seconds * static_cast<double>(n), 100.0 / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    out += fmt::format(".film{} .frame:nth-of-type({}){{animation-delay:{:.2f}s!important}}\n", n, i + 1,
                       seconds * (static_cast<double>(i) - static_cast<double>(n)));
  return out;
}

}  // namespace

Json frames_json(const PlaneFrames& frames) {
  Json json{{"direction", frames.plane.direction},
            {"plane", frames.plane.plane},
            {"nx", frames.plane.nx},
            {"ny", frames.plane.ny},
            {"times", frames.times},
            {"bits", Json::array()}};
  for (const std::vector<float>& frame : frames.values) {
    Json& bits = json["bits"].push_back(Json::array());
    for (const float x : frame) bits.push_back(std::bit_cast<std::uint32_t>(x));
  }
  return json;
}

PlaneFrames frames_of(const Json& json) {
  PlaneFrames frames{{json.at("direction"), json.at("plane"), json.at("nx"), json.at("ny"), {}}, {}, json.at("times")};
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

void PlaneFrames::add(const PlaneValues& values_now, double time) {
  plane = values_now;
  plane.values.clear();
  values.emplace_back(values_now.values.begin(), values_now.values.end());
  times.push_back(time);
}

void PlaneFrames::keep(std::size_t n) {
  values.resize(n);
  times.resize(n);
}

void PlaneFrames::thin() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); i += 2, ++kept) {
    std::swap(values[kept], values[i]);
    times[kept] = times[i];
  }
  keep(kept);
}

std::string moving_figure(const PlaneFrames& frames, PlaneLook look) {
  const std::vector<Picture> all = pictures(frames, look.low, look.high);
  const std::size_t n = all.size();
  std::string buttons = button("play", "play", true) + button("stop", "stop", false), styles = film_styles(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string time = "t = " + format_si(frames.times[i], "s");
    look.frames.emplace_back(data_uri(all[i]), time);
    buttons += button("step", time, false);
    styles +=
        fmt::format(".film{0} input:nth-of-type({1}):checked~figure .frame:nth-of-type({2}){{visibility:visible}}\n", n,
                    i + 3, i + 1);
  }
  return fmt::format("<style>{}</style><form class=\"film film{}\">{}{}</form>\n", styles, n, buttons,
                     plane_figure(frames.plane, look));
}

std::vector<std::string> still_figures(const PlaneFrames& frames, PlaneLook look) {
  std::vector<std::string> all;
  PlaneValues plane = frames.plane;
  for (std::size_t i = 0; i < frames.values.size(); ++i) {
    plane.values.assign(frames.values[i].begin(), frames.values[i].end());
    look.caption = format_si(frames.times[i], "s");
    all.push_back(plane_figure(plane, look));
  }
  return all;
}

std::string moving_picture(const PlaneFrames& frames, double low, double high) {
  std::vector<Picture> all = pictures(frames, low, high);
  const int factor = std::max(1, (wide - 1) / std::max(1, std::max(frames.plane.nx, frames.plane.ny)) + 1);
  if (factor > 1)
    for (Picture& picture : all) picture = enlarged(picture, factor);
  return animated_png(all, seconds);
}

}  // namespace karst
