// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "geometry_import/render.hpp"
#include "geometry_import/report_text.hpp"

namespace karst {
namespace {

std::string edge_name(const Rendering::Edge& e, const std::string& text) {
  const auto off = [&](const PicturePoint& p, double by) {
    return PicturePoint{p.column + by * e.out.column, p.row + by * e.out.row};
  };
  const auto between = [](const PicturePoint& a, const PicturePoint& b, double part) {
    return PicturePoint{a.column + part * (b.column - a.column), a.row + part * (b.row - a.row)};
  };
  const PicturePoint from = off(between(e.begin, e.end, 0.32), 14), to = off(between(e.begin, e.end, 0.68), 14);
  const bool level = std::abs(e.out.column) <= 0.3, upright = std::abs(e.out.column) > 0.95;
  const PicturePoint word = off(e.middle, level ? 46 : 30);
  const char* anchor = level || upright ? "middle" : e.out.column < 0 ? "end" : "start";
  const std::string turned =
      upright ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", word.column, word.row) : "";
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#5b6673\" stroke-width=\"1.6\" "
      "marker-end=\"url(#tip)\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n",
      from.column, from.row, to.column, to.row, word.column, word.row + (upright ? 0 : 7), anchor, turned,
      escape_html(text));
}

}  // namespace

std::string body_svg(const Rendering& view, const std::array<std::string, 3>& names, const std::string& about,
                     const std::string& over) {
  std::string out = fmt::format(
      "<svg class=\"body\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\"><title>{2}</title><defs><marker "
      "id=\"tip\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path "
      "d=\"M0,0L8,4L0,8Z\" fill=\"#5b6673\"/></marker></defs>\n<image width=\"{0}\" height=\"{1}\" href=\"{3}\"/>\n",
      view.picture.width, view.picture.height, escape_html(about), data_uri(view.picture));
  out += over;
  for (std::size_t d = 0; d < 3; ++d) out += edge_name(view.edges[d], names[d]);
  return out + "</svg>\n";
}

}  // namespace karst
