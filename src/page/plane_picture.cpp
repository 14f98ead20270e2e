// SPDX-License-Identifier: BSD-3-Clause
#include "page/plane_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/core/text.hpp"
#include "page/page_text.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

constexpr double letters = 14;  // height, as in the charts [pixels]
constexpr Rgb solid_colour{222, 225, 229};

/// Where the plane is drawn in the figure [pixels].
struct PlaneFrame {
  static constexpr double left = 62, top = 10, bottom = 46, right = 112, longest = 330;
  PlaneFrame(int nx, int ny)
      : scale(longest / std::max(nx, ny)), wide(scale * nx), high(scale * ny), n_wide(nx), n_high(ny) {}
  double x(double cell) const { return left + scale * cell; }
  double y(double cell) const { return top + high - scale * cell; }
  double scale, wide, high;
  int n_wide, n_high;
};

std::string line_svg(double x0, double y0, double x1, double y1, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>", x0, y0, x1, y1, style);
}

/// -0 is 0.
double plain(double tick) { return std::abs(tick) < 1e-12 ? 0.0 : tick; }

/// Ticks, numbers and names of the two axes.
std::string axes_svg(const PlaneFrame& f, const PlaneValues& plane, double cell_width) {
  const LengthUnit unit = length_unit(cell_width * std::max(f.n_wide, f.n_high));
  const double per_cell = cell_width / unit.metres;
  const int first = plane.direction == 0 ? 1 : 0, second = plane.direction == 2 ? 1 : 2;
  std::string out;
  const double foot = f.y(0);
  for (const double t : ticks(0.0, f.n_wide * per_cell, 4))
    out += line_svg(f.x(t / per_cell), foot, f.x(t / per_cell), foot + 4, "class=\"axis\"") +
           fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>", f.x(t / per_cell),
                       foot + 19, plain(t));
  const double place = f.wide < 100 ? f.x(f.n_wide) + 8 : f.x(0.5 * f.n_wide);
  out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{} [{}]</text>\n", place,
                     foot + 38, axis_names[first], unit.name);
  for (const double t : ticks(0.0, f.n_high * per_cell, 4))
    out += line_svg(f.left - 4, f.y(t / per_cell), f.left, f.y(t / per_cell), "class=\"axis\"") +
           fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>", f.left - 7,
                       f.y(t / per_cell) + 5, plain(t));
  const double middle = f.y(0.5 * f.n_high);
  return out + fmt::format(
                   "<text class=\"label\" x=\"13\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 13 "
                   "{0:.1f})\">{1} [{2}]</text>\n",
                   middle, axis_names[second], unit.name);
}

std::string marks_svg(const PlaneFrame& f, const PlaneValues& plane, const PlaneLook& look) {
  std::string out;
  if (look.marked_axis < 0 || look.marked_axis == plane.direction) return out;
  const bool along_first = look.marked_axis == (plane.direction == 0 ? 1 : 0);
  const char* style = "stroke=\"#b3261e\" stroke-width=\"1.3\" stroke-dasharray=\"5 4\"";
  for (const double m : look.marks)
    out += along_first ? line_svg(f.x(m), f.y(0), f.x(m), f.y(f.n_high), style)
                       : line_svg(f.x(0), f.y(m), f.x(f.n_wide), f.y(m), style);
  return out;
}

}  // namespace

Rgb colour_of(double t) {
  constexpr std::array<Rgb, 9> map{{{68, 1, 84},
                                    {72, 40, 120},
                                    {62, 74, 137},
                                    {49, 104, 142},
                                    {38, 130, 142},
                                    {31, 158, 137},
                                    {53, 183, 121},
                                    {144, 215, 67},
                                    {253, 231, 37}}};
  const double at = (t > 0.0 ? std::min(t, 1.0) : 0.0) * (map.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), map.size() - 2);
  Rgb colour;
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] =
        static_cast<std::uint8_t>(std::lround(map[i][c] + (at - static_cast<double>(i)) * (map[i + 1][c] - map[i][c])));
  return colour;
}

Picture picture_of(const PlaneValues& plane, double low, double high) {
  Picture picture(plane.nx, plane.ny, 3);
  for (int j = 0; j < plane.ny; ++j)
    for (int i = 0; i < plane.nx; ++i) {
      const double value = plane.values[std::int64_t{j} * plane.nx + i];
      const Rgb colour = std::isnan(value) ? solid_colour : colour_of((value - low) / (high - low));
      std::ranges::copy(colour, picture.pixel(i, plane.ny - 1 - j));
    }
  return picture;
}

ScaledUnit scaled_unit(double largest, const std::string& unit) {
  constexpr std::array<const char*, 9> prefixes{"f", "p", "n", "µ", "m", "", "k", "M", "G"};
  if (!(largest > 0.0) || !std::isfinite(largest)) return {1.0, unit};
  const int step = std::clamp(static_cast<int>(std::floor(std::log10(largest) / 3.0 + 1e-9)), -5, 3);
  return {std::pow(10.0, 3 * step), prefixes[step + 5] + unit};
}

std::string colour_scale_svg(const PlaneLook& look, double x, double y, double height, double letters) {
  constexpr int n_colours = 48;
  std::string out;
  const double part = height / n_colours, width = letters;
  for (int i = 0; i < n_colours; ++i)
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"/>", x,
                       y - (i + 1) * part, width, part + 0.4, hex(colour_of((i + 0.5) / n_colours)));
  const double low = look.low / look.unit, high = look.high / look.unit;
  for (const double t : ticks(low, high, 5)) {
    const double at = y - height * (t - low) / (high - low);
    out += line_svg(x + width, at, x + width + 4, at, "class=\"axis\"") +
           fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{:g}</text>", x + width + 7, at + 0.35 * letters, plain(t));
  }
  const double middle = y - 0.5 * height, beside = x + colour_scale_width(letters) - 0.3 * letters;
  return fmt::format(
      "<g style=\"font-size:{4:.0f}px\">{0}<text class=\"label\" x=\"{1:.1f}\" y=\"{2:.1f}\" text-anchor=\"middle\" "
      "transform=\"rotate(-90 {1:.1f} {2:.1f})\">{3}</text></g>\n",
      out, beside, middle, escape_html(look.quantity), letters);
}

std::string plane_figure(const PlaneValues& plane, const PlaneLook& look) {
  const PlaneFrame f(plane.nx, plane.ny);
  const double width = f.left + f.wide + f.right, height = std::max(f.top + f.high + f.bottom, 160.0);
  std::string out = fmt::format(
      "<figure><svg class=\"chart\" style=\"max-width:{0:.0f}px;margin:0 auto\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\"><title>{2}</title>\n",
      width, height, escape_html(look.quantity));
  auto frames = look.frames;
  if (frames.empty()) frames.emplace_back(data_uri(picture_of(plane, look.low, look.high)), "");
  for (const auto& [uri, text] : frames)
    out += fmt::format(
        "<g class=\"frame\"><image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{}\"/><text class=\"halo\" "
        "x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text></g>\n",
        f.left, f.top, f.wide, f.high, uri, f.left + 6, f.top + 17, escape_html(text));
  out +=
      fmt::format("<rect class=\"axis\" fill=\"none\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                  f.left, f.top, f.wide, f.high);
  out += marks_svg(f, plane, look) + axes_svg(f, plane, look.cell_width);
  out += colour_scale_svg(look, f.left + f.wide + 16, std::max(f.y(0), f.top + 120), std::max(f.high, 120.0), letters);
  return out + fmt::format("</svg><figcaption>{}</figcaption></figure>\n", look.caption);
}

}  // namespace karst
