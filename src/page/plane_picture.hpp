// SPDX-License-Identifier: BSD-3-Clause
// A plane of values as a picture with axes and a scale of colours.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "page/picture.hpp"

namespace karst {

/// Values of the cells of a plane, the first direction fastest; NaN without fluid.
struct PlaneValues {
  int direction = 0;  ///< across which it lies
  int plane = 0;      ///< cell along it
  int nx = 0, ny = 0;
  std::vector<double> values;
  std::vector<double> fluid{};  ///< fraction of each cell; empty: not known
};

/// From dark blue (0) to yellow (1), even steps of lightness; beyond: the end. Near to the map "viridis" of Smith & van
/// der Walt (2015, public domain).
Rgb colour_of(double t);

/// A colour per cell, solid in gray; the second direction runs upwards.
Picture picture_of(const PlaneValues& plane, double low, double high);

/// "3e-6", "m/s" -> { 1e-6, "µm/s" }: a unit that gives values up to this readable numbers.
struct ScaledUnit {
  double factor = 1.0;
  std::string name;
};
ScaledUnit scaled_unit(double largest, const std::string& unit);

struct PlaneLook {
  double low = 0.0, high = 1.0;  ///< ends of the scale
  std::string quantity{};        ///< beside the scale, such as "speed [µm/s]"
  double unit = 1.0;             ///< one of its numbers in the unit of the values
  double cell_width = 1.0;       ///< [m]
  std::string caption{};         ///< HTML
  /// URI and text of pictures, each in a <g class="frame">, in place of that of the values.
  std::vector<std::pair<std::string, std::string>> frames{};
  int marked_axis = -1;         ///< dashed lines across this direction ...
  std::vector<double> marks{};  ///< ... at these cells
};
/// An HTML figure.
std::string plane_figure(const PlaneValues& plane, const PlaneLook& look);

/// A scale of colours as SVG, its lower left corner at (x, y).
/// @param letters  height of its letters [pixels]
std::string colour_scale_svg(const PlaneLook& look, double x, double y, double height, double letters);
/// Its width with numbers and name [pixels].
constexpr double colour_scale_width(double letters) { return 5.7 * letters; }

}  // namespace karst
