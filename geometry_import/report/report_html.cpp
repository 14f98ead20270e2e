// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/report.hpp"

#include <fmt/core.h>

#include <cassert>

#include "base/comm/fail_together.hpp"
#include "base/core/version.hpp"
#include "base/file/atomic_file.hpp"
#include "geometry_import/report/report_charts.hpp"
#include "geometry_import/report/report_sections.hpp"
#include "page/page_parts.hpp"
#include "page/page_text.hpp"

namespace karst {
namespace {

std::string histogram_section(const ReportPage& page) {
  return card("Gray values", svg(histogram_chart(*page.histogram)),
              "Voxels by gray value, in the colours of the phases they become; thresholds are dashed. " +
                  escape_html(page.histogram->note));
}

std::string size_sections(const ReportPage& page) {
  const ImageStatistics& s = page.statistics;
  const auto section = [&](const char* title, const SizeDistribution& sizes, const char* what, const char* share,
                           double bound, const char* note) {
    const std::string body =
        sizes.share.empty() ? "<p>None found.</p>\n" : svg(size_chart(sizes, page.voxel, what, share, bound));
    return card(title, body, note);
  };
  return pairs_html({section("Pore sizes", s.pore_size, "pores", "fraction of the pore volume", 0,
                             "Local thickness: the diameter of the largest sphere in the pore space that contains the "
                             "voxel; at most the shortest side of the image."),
                     section("Throat sizes", s.throat_size, "throats", "fraction of the throats", 3,
                             "Diameter of the largest sphere that passes between two neighbouring pores. Throats under "
                             "3 voxels are poorly resolved.")});
}

std::string place_sections(const ReportPage& page) {
  const ImageStatistics& s = page.statistics;
  return pairs_html({card("Porosity along the axes", svg(profile_chart(s, page.voxel)),
                          "Porosity of each plane across an axis. A trend means that the sample is not uniform."),
                     card("Two-point correlation", svg(correlation_chart(s, page.voxel)),
                          "Correlation of pore and solid between two points, against their distance; 1: fully "
                          "correlated, 0: independent. Its integral up to the first zero is the correlation length.")});
}

}  // namespace

std::string html(const ReportPage& page) {
  assert(page.voxel > 0 && page.voxels[0] > 0);
  std::string body = warnings_html(page.warnings) + tiles_section(page);
  body += pairs_html(
      {page.histogram ? histogram_section(page) + phases_section(page) : phases_section(page) + cleaning_section(page),
       body_section(page)});
  body += slices_section(page);
  if (page.histogram) body += cleaning_section(page);
  body += size_sections(page) + place_sections(page) + made_section(page);
  return page_html(page.title, "Karst import", page.source, body, std::string(version_and_git_id()));
}

void write_report(const Comm& comm, const std::string& path, const ReportPage& page) {
  std::string text;
  fail_together(comm, [&] {
    if (comm.rank() == 0) text = html(page);
  });
  write_file(comm, path, text);
}

}  // namespace karst
