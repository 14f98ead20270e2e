// SPDX-License-Identifier: BSD-3-Clause
// Key figures and tables of the report.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "geometry_import/report/report_charts.hpp"
#include "geometry_import/report/report_sections.hpp"
#include "geometry_import/report/slice_pictures.hpp"
#include "page/page_parts.hpp"
#include "page/page_text.hpp"

namespace karst {
namespace {

/// "x 34.9 · y 35.0 · z 34.8" and the unit.
template <class F>
std::string per_axis(F&& text) {
  std::string out;
  for (std::size_t d = 0; d < 3; ++d) out += fmt::format("{}{}\u00a0{}", d == 0 ? "" : " · ", axis_names[d], text(d));
  return out;
}

std::string with_voxels(double voxels, double voxel) {
  return fmt::format("{} <span class=\"unit\">= {} voxels</span>", length_text(voxels * voxel), number_text(voxels));
}

PageTile porosity_tile(const ReportPage& page) {
  const ImageStatistics& s = page.statistics;
  const std::string connected =
      per_axis([&](std::size_t d) { return s.percolates[d] ? number_text(100 * s.connected_porosity[d]) : "0"; });
  return {"Porosity", percent_text(s.porosity),
          fmt::format("connected: {} %<br/>enclosed: {}; smooth wall: {}", connected, percent_text(s.enclosed_porosity),
                      percent_text(page.level_set_porosity))};
}

PageTile percolation_tile(const ReportPage& page) {
  const ImageStatistics& s = page.statistics;
  const auto value = [&](std::size_t d) {
    return std::string(s.percolates[d] ? "✓" : "<span class=\"no\" title=\"no\">✗</span>");
  };
  const bool none = std::none_of(s.percolates.begin(), s.percolates.end(), [](bool b) { return b; });
  const auto critical = [&](std::size_t d) {
    return s.critical_diameter[d] > 0 ? length_text(s.critical_diameter[d] * page.voxel) : std::string("–");
  };
  std::string values;
  for (std::size_t d = 0; d < 3; ++d) values += each_html(fmt::format("{}\u00a0{}", axis_names[d], value(d)));
  return {"Pores percolate along", values,
          none ? "no pore percolates" : fmt::format("largest sphere that passes: {}", per_axis(critical))};
}

PageTile size_tile(const char* name, const SizeDistribution& sizes, double voxel, const std::string& more) {
  if (sizes.share.empty()) return {name, "–", "none found"};
  const std::string least = sizes.share_bound > 0 && sizes.median >= sizes.bound ? "≥ " : "";
  return {name, least + with_voxels(sizes.median, voxel),
          fmt::format("10 to 90 %: {} to {}<br/>{}", length_text(sizes.tenth * voxel),
                      length_text(sizes.ninetieth * voxel), more)};
}

PageTile correlation_tile(const ReportPage& page) {
  const auto& length = page.statistics.correlation_length;
  const double longest = *std::max_element(length.begin(), length.end());
  if (!std::isfinite(longest) || longest <= 0) return {"Correlation length", "–", "not found"};
  const int shortest_side = std::min({page.voxels[0], page.voxels[1], page.voxels[2]});
  return {"Correlation length", with_voxels(longest, page.voxel),
          fmt::format("{}<br/>shortest side of the image: {} correlation lengths",
                      per_axis([&](std::size_t d) { return length_text(length[d] * page.voxel); }),
                      number_text(shortest_side / longest, 2))};
}

std::string number_cell(const std::string& text) { return fmt::format("<td class=\"n\">{}</td>", text); }

}  // namespace

std::string tiles_section(const ReportPage& page) {
  const ImageStatistics& s = page.statistics;
  const Index& n = page.voxels;
  const double surface = s.specific_surface / page.voxel;
  const std::string width =
      fmt::format("{} <span class=\"unit\">= {:g} {}</span>", length_text(s.suggested_width * page.voxel),
                  s.suggested_width, s.suggested_width == 1 ? "voxel" : "voxels");
  return tiles_html(
      {porosity_tile(page),
       percolation_tile(page),
       size_tile("Pore diameter, median by volume", s.pore_size, page.voxel, count_text(s.pores, "pore", "pores")),
       size_tile("Throat diameter, median", s.throat_size, page.voxel,
                 fmt::format("{}, {} per pore; {} under 3 voxels", count_text(s.throats, "throat", "throats"),
                             number_text(s.coordination, 2), percent_text(s.thin_throats))),
       {"Image [voxels]", fmt::format("{} × {} × {}", n[0], n[1], n[2]),
        fmt::format("{} × {} × {}<br/>voxel width {}; {} voxels", length_text(n[0] * page.voxel),
                    length_text(n[1] * page.voxel), length_text(n[2] * page.voxel), length_text(page.voxel),
                    count_text(std::int64_t{n[0]} * n[1] * n[2]))},
       {"Specific surface", fmt::format("{} <span class=\"unit\">1/m</span>", number_text(surface)),
        fmt::format("wall area per volume of the sample<br/>= {} mm²/mm³; per pore volume {} 1/m",
                    number_text(1e-3 * surface), s.porosity > 0 ? number_text(surface / s.porosity) : "–")},
       correlation_tile(page),
       {"Suggested cell width", s.suggested_width > 0 ? width : "–", escape_html(s.suggestion)}});
}

std::string phases_section(const ReportPage& page) {
  std::string out =
      "<table><tr><th>name</th><th class=\"n\">label</th><th class=\"n\">fraction of the sample</th><th "
      "style=\"width:45%\"></th></tr>\n";
  double largest = 1e-300;
  for (const PhaseShare& p : page.statistics.phases) largest = std::max(largest, p.share);
  for (const PhaseShare& p : page.statistics.phases)
    out += fmt::format(
        "<tr><td>{}</td>{}{}<td><span class=\"bar\" style=\"width:{:.1f}%;background:{}\"></span></td></tr>\n",
        escape_html(p.name), number_cell(fmt::format("{}", p.label)), number_cell(percent_text(p.share)),
        100 * p.share / largest, hex(label_colour(p.label)));
  return card("Phases", table_box(out + "</table>"));
}

std::string cleaning_section(const ReportPage& page) {
  const bool none =
      std::all_of(page.cleaning.begin(), page.cleaning.end(), [](const auto& r) { return r.voxels == 0; });
  if (none) return card("Cleaning", "<p>Nothing was removed or filled.</p>\n");
  const Index& n = page.voxels;
  const double sample = double(n[0]) * n[1] * n[2] * page.sample_share;
  std::string out =
      "<table><tr><th>what</th><th class=\"n\">clusters</th><th class=\"n\">voxels</th><th class=\"n\">fraction of the "
      "sample</th></tr>\n";
  for (const CleaningRow& r : page.cleaning)
    out += fmt::format("<tr><td>{}</td>{}{}{}</tr>\n", escape_html(r.what), number_cell(count_text(r.clusters)),
                       number_cell(count_text(r.voxels)),
                       number_cell(percent_text(static_cast<double>(r.voxels) / sample)));
  return card("Cleaning", table_box(out + "</table>"));
}

std::string made_section(const ReportPage& page) {
  std::string out = "<details class=\"card\"><summary>How this file was created</summary>" + facts_table(page.made);
  if (!page.options.empty()) out += "<h2>All options</h2><pre>" + escape_html(page.options) + "</pre>";
  return out + "</details>\n";
}

}  // namespace karst
