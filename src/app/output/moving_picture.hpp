// SPDX-License-Identifier: BSD-3-Clause
// A plane of values at several times as a moving picture: for the page, and as a file of its own. Values are kept, not
// pictures, as the ends of the scale of colours are known at the end.
//
// On the page all frames lie upon another, and styles alone show one after the other: a page has no scripts. A button
// for playing, one for stopping and one for each frame, of which one is pressed, choose what is seen; the arrow keys
// go from one to the next.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "page/plane_picture.hpp"

namespace karst {

class Json;

inline constexpr int most_frames = 48;
inline constexpr int n_stills = 3;  ///< pictures of a run through time where the deck asks for no others

struct PlaneFrames {
  PlaneValues plane;                       ///< without values
  std::vector<std::vector<float>> values;  ///< of each frame
  std::vector<double> times;               ///< of each frame [s]
  void add(const PlaneValues& values_now, double time);
  /// The first so many of them.
  void keep(std::size_t n);
  /// Every second one of them, from the first on.
  void thin();
};

/// Every bit of every value, for a run that goes on from there.
Json frames_json(const PlaneFrames& frames);
PlaneFrames frames_of(const Json& json);

/// The bytes of an animated PNG (PNG's third edition, W3C 2025): pictures of one size and kind, again and again.
/// @param seconds  that each stays. Throws Error: none, different ones, no memory. Not collective.
std::string animated_png(std::span<const Picture> pictures, double seconds);

/// An HTML figure whose picture moves, with its time, buttons and styles. Not collective.
std::string moving_figure(const PlaneFrames& frames, PlaneLook look);
/// HTML figures of all frames, each with its time below. Not collective.
std::vector<std::string> still_figures(const PlaneFrames& frames, PlaneLook look);
/// The bytes of an animated PNG, some hundred pixels wide. Not collective.
std::string moving_picture(const PlaneFrames& frames, double low, double high);

}  // namespace karst
