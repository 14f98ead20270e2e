// SPDX-License-Identifier: BSD-3-Clause
// A plane of values at several times as a moving picture: for the page, and as a file of its own. Values are kept, not
// pictures, as the ends of the scale of colours are known at the end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "page/plane_picture.hpp"

namespace karst {

class Json;

inline constexpr int most_frames = 48;

struct PlaneFrames {
  PlaneValues plane;                       ///< without values
  std::vector<std::vector<float>> values;  ///< of each frame
  void add(const PlaneValues& values_now);
};

/// Every bit of every value, for a run that goes on from there.
Json frames_json(const PlaneFrames& frames);
PlaneFrames frames_of(const Json& json);

/// The bytes of an animated PNG (PNG's third edition, W3C 2025): pictures of one size and kind, again and again.
/// @param seconds  that each stays. Throws Error: none, different ones, no memory. Not collective.
std::string animated_png(std::span<const Picture> pictures, double seconds);

/// An HTML figure whose picture moves. Not collective.
std::string moving_figure(const PlaneFrames& frames, PlaneLook look);
/// The bytes of an animated PNG, some hundred pixels wide. Not collective.
std::string moving_picture(const PlaneFrames& frames, double low, double high);

}  // namespace karst
