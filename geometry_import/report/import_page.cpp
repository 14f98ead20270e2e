// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/import_page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/core/text.hpp"
#include "page/page_text.hpp"

namespace karst {
namespace {

std::string source_line(const ImportReport& r) {
  const Index& n = r.file_voxels;
  std::string text = fmt::format("{}, {}, {} × {} × {} voxels", r.format, name_of(r.type), n[0], n[1], n[2]);
  for (const std::string& step : r.prepared) text += "; " + step;
  return text;
}

ReportHistogram histogram_of(const ImportReport& r) {
  ReportHistogram h{r.histogram, r.thresholds, {}, {}};
  const std::size_t n = r.phases.size();
  for (std::size_t c = 0; c < n; ++c) {  // from dark to bright: the pore first, or last
    const std::size_t label = !r.pore_above ? c : c + 1 == n ? 0 : c + 1;
    h.classes.push_back(r.phases[label].name);
    h.labels.push_back(static_cast<int>(label));
  }
  if (std::isfinite(r.seed_threshold)) h.seed_threshold = r.seed_threshold;
  if (std::isfinite(r.porosity_low))
    h.note = fmt::format("Moved by {}, the {} gives porosities from {} to {}.",
                         r.scan ? number_text(r.moved_wall, 2) + " voxel (5 % of the contrast)" : "5 % of the contrast",
                         r.scan ? "wall" : "threshold", percent_text(r.porosity_low), percent_text(r.porosity_high));
  if (r.scan)
    h.note += fmt::format(
        " Starting from the threshold, the wall was fitted to the image: gray values {} (pore) and {} (solid), blurred "
        "by {:.2f} voxel.",
        number_text(r.scan->pore, 4), number_text(r.scan->solid, 4), r.scan->blur);
  return h;
}

std::vector<CleaningRow> cleaning_of(const ImportReport& r) {
  std::vector<CleaningRow> rows{{"specks of solid, now pore", r.cleaned.specks.clusters, r.cleaned.specks.voxels},
                                {"holes, now solid", r.cleaned.holes.clusters, r.cleaned.holes.voxels},
                                {"removed pores, now solid", r.cleaned.dropped.clusters, r.cleaned.dropped.voxels}};
  if (r.seeds.without_seed.clusters > 0)
    rows.insert(rows.begin(),
                {"not connected to a seed, now solid", r.seeds.without_seed.clusters, r.seeds.without_seed.voxels});
  return rows;
}

std::vector<std::pair<std::string, std::string>> facts_of(const ImportReport& r) {
  std::vector<std::pair<std::string, std::string>> facts{{"segmentation", r.segmentation}};
  const auto add = [&](const char* name, const std::string& value) { facts.push_back({name, value}); };
  if (std::isfinite(r.threshold)) {
    std::vector<std::string> limits;
    for (const double t : r.thresholds) limits.push_back(fmt::format("{:.6g}", t));
    add(limits.size() == 1 ? "threshold" : "thresholds", join(limits));
    add("pore", r.pore_above ? "gray values above the threshold" : "gray values below the threshold");
  } else {
    add("value of the pore", fmt::format("{:g}", r.pore));
    add("shift that preserves the volume", fmt::format("{:.3g} voxel", r.shift));
  }
  if (std::isfinite(r.seed_threshold)) add("seed threshold", fmt::format("{:g}", r.seed_threshold));
  if (r.rim_voxels > 0) add("voxels at the wall with a wrong phase, corrected", count_text(r.rim_voxels));
  if (r.scan) {
    add("wall", fmt::format("fitted: its model image, blurred by {:.2f} voxel, is the given image", r.scan->blur));
    add("gray values of the model", fmt::format("pore {:.6g}, solid {:.6g}", r.scan->pore, r.scan->solid));
    add("image minus model", fmt::format("{} of the contrast at the wall, {} inside the phases",
                                         percent_text(r.scan->misfit), percent_text(r.scan->scatter)));
    add("noise", percent_text(r.scan->noise) + " of the contrast");
  }
  add("smoothing", fmt::format("{:g} voxel", r.smoothing));
  if (r.sample)
    add("sample", fmt::format("cylinder of radius {:g} voxels about x = {:g}, y = {:g}: {} of the voxels",
                              r.sample->radius, r.sample->x, r.sample->y, percent_text(r.sample_share)));
  add("voxel width", r.voxel_from_file ? "from the file" : "as given");
  add("values", fmt::format("{:g} to {:g}", r.smallest, r.largest));
  add("time", fmt::format("{:.3g} s", r.seconds));
  return facts;
}

}  // namespace

ReportPage import_page(const ImportReport& r) {
  ReportPage page;
  page.title = r.file;
  page.source = source_line(r);
  page.voxels = r.voxels;
  page.voxel = r.voxel;
  page.level_set_porosity = r.level_set_porosity;
  page.sample_share = r.sample_share;
  page.sample = r.sample;
  page.statistics = r.statistics;
  if (std::isfinite(r.threshold)) page.histogram = histogram_of(r);
  page.pictures = r.pictures;
  page.cleaning = cleaning_of(r);
  page.warnings = r.warnings;
  page.made = facts_of(r);
  return page;
}

}  // namespace karst
