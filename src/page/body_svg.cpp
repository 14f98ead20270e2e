// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/page_text.hpp"
#include "page/render.hpp"

namespace karst {
namespace {

constexpr double letter_ratio = 0.58;  // width of a letter over its height, about

/// What the viewBox must show.
struct Frame {
  double left, top, right, bottom;
  void hold(double x0, double x1, double y0, double y1) {
    left = std::min(left, x0), right = std::max(right, x1);
    top = std::min(top, y0), bottom = std::max(bottom, y1);
  }
};

/// An arrow along an edge, and its name.
/// @param size  height of letters [pixels]
std::string edge_name(const Rendering::Edge& e, const std::string& text, double size, Frame& frame) {
  const auto off = [&](const PicturePoint& p, double by) {
    return PicturePoint{p.column + by * e.out.column, p.row + by * e.out.row};
  };
  const auto between = [](const PicturePoint& a, const PicturePoint& b, double part) {
    return PicturePoint{a.column + part * (b.column - a.column), a.row + part * (b.row - a.row)};
  };
  const PicturePoint from = off(between(e.begin, e.end, 0.32), 0.7 * size),
                     to = off(between(e.begin, e.end, 0.68), 0.7 * size);
  const bool level = std::abs(e.out.column) <= 0.3, upright = std::abs(e.out.column) > 0.95;
  const PicturePoint word = off(e.middle, (level ? 2.3 : 1.5) * size);
  const char* anchor = level || upright ? "middle" : e.out.column < 0 ? "end" : "start";
  const double long_ = letter_ratio * size * static_cast<double>(letters_of(text));
  if (upright) {
    frame.hold(word.column - size, word.column + 0.4 * size, word.row - 0.5 * long_, word.row + 0.5 * long_);
  } else {
    const double begin = word.column - (level ? 0.5 * long_ : e.out.column < 0 ? long_ : 0);
    frame.hold(begin, begin + long_, word.row - 0.6 * size, word.row + 0.8 * size);
  }
  const std::string turned =
      upright ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", word.column, word.row) : "";
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#5b6673\" stroke-width=\"1.6\" "
      "marker-end=\"url(#tip)\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n",
      from.column, from.row, to.column, to.row, word.column, word.row + (upright ? 0 : 0.35 * size), anchor, turned,
      escape_html(text));
}

}  // namespace

std::string body_svg(const Rendering& view, const std::array<std::string, 3>& names, const std::string& about,
                     const std::string& over, double beside) {
  const double wide = view.picture.width, high = view.picture.height, size = body_letters(view.picture.width);
  Frame frame{0, 0, wide + beside, high};
  std::string edges;
  for (std::size_t d = 0; d < 3; ++d) edges += edge_name(view.edges[d], names[d], size, frame);
  return fmt::format(
             "<svg class=\"body\" style=\"font-size:{9:.0f}px\" viewBox=\"{4:.0f} {5:.0f} {6:.0f} {7:.0f}\" "
             "role=\"img\" "
             "aria-label=\"{2}\"><title>{2}</title><defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" "
             "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0L8,4L0,8Z\" "
             "fill=\"#5b6673\"/></marker></defs>\n<image width=\"{0}\" height=\"{1}\" href=\"{3}\"/>\n{8}",
             wide, high, escape_html(about), data_uri(view.picture), std::floor(frame.left), std::floor(frame.top),
             std::ceil(frame.right) - std::floor(frame.left), std::ceil(frame.bottom) - std::floor(frame.top), over,
             size) +
         edges + "</svg>\n";
}

}  // namespace karst
