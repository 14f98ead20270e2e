// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "app/deck/source.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"

namespace karst {
namespace {

std::string import_line(const char* name, const std::string& text) { return fmt::format("  {:<20}{}\n", name, text); }

std::string image_lines(const ImportReport& r) {
  const Index& n = r.file_voxels;
  std::string text = import_line(
      "image", fmt::format("{} ({}, {}), {} x {} x {} voxels", r.file, r.format, name_of(r.type), n[0], n[1], n[2]));
  for (const std::string& step : r.prepared) text += import_line("prepared", step);
  if (r.sample)
    text +=
        import_line("sample", fmt::format("cylinder of radius {:g} voxels about x = {:g}, y = {:g}: {:.2f} % of the "
                                          "voxels; the rest is solid and excluded below",
                                          r.sample->radius, r.sample->x, r.sample->y, 100 * r.sample_share));
  return text + import_line("voxel width",
                            fmt::format("{} ({}{})", format_si(r.voxel, "m"),
                                        r.file_spacing != Vec3::all(r.voxel) ? "after resampling"
                                        : r.voxel_from_file                  ? "from the file"
                                                                             : "as given",
                                        r.z_assumed ? "; the file states x and y alone: z is taken equal to x" : ""));
}

std::string pore_line(const ImportReport& r) {
  if (std::isnan(r.threshold))
    return import_line("pore space", fmt::format("value {:g} ({}); values go from {:g} to {:g}", r.pore, r.segmentation,
                                                 r.smallest, r.largest));
  std::vector<std::string> limits;
  for (const double t : r.thresholds) limits.push_back(fmt::format("{:.6g}", t));
  std::string how = r.segmentation;
  if (limits.size() > 1) how += fmt::format(", limits {}", join(limits));
  return import_line("pore space",
                     fmt::format("gray value {} {:.6g} ({}); values go from {:g} to {:g}",
                                 r.pore_above ? "above" : "below", r.threshold, how, r.smallest, r.largest));
}

std::string scan_line(const ImportReport& r) {
  if (!r.scan) return "";
  return import_line("wall",
                     fmt::format("fitted: pore {:.4g}, solid {:.4g}, blurred by {:.2f} voxel; misfit {:.1f} % of the "
                                 "contrast at the wall, {:.1f} % elsewhere, noise {:.1f} %",
                                 r.scan->pore, r.scan->solid, r.scan->blur, 100 * r.scan->misfit, 100 * r.scan->scatter,
                                 100 * r.scan->noise));
}

std::string phases_line(const ImportReport& r) {
  constexpr std::size_t most = 6;
  std::vector<std::string> parts;
  for (const PhaseShare& p : r.phases)
    if (parts.size() < most) parts.push_back(fmt::format("{} {:.2f} %", p.name, 100 * p.share));
  if (r.phases.size() > most) parts.push_back(fmt::format("and {} more", r.phases.size() - most));
  return import_line("phases", join(parts));
}

std::string cleaned_line(const ImportReport& r) {
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t clusters, std::int64_t voxels, const char* one, const char* many) {
    if (clusters > 0) parts.push_back(fmt::format("{} {} ({} voxels)", clusters, clusters == 1 ? one : many, voxels));
  };
  add(r.seeds.without_seed.clusters, r.seeds.without_seed.voxels, "pore without a seed", "pores without a seed");
  add(r.cleaned.specks.clusters, r.cleaned.specks.voxels, "speck", "specks");
  add(r.cleaned.holes.clusters, r.cleaned.holes.voxels, "hole", "holes");
  add(r.cleaned.dropped.clusters, r.cleaned.dropped.voxels, "pore dropped", "pores dropped");
  return parts.empty() ? "" : import_line("removed", join(parts));
}

std::string porosity_lines(const ImportReport& r) {
  std::string text =
      import_line("porosity", fmt::format("{:.5f} (whole voxels: {:.5f})", r.level_set_porosity, r.porosity));
  if (std::isfinite(r.porosity_low))
    text += import_line(
        "", fmt::format("{:.5f} to {:.5f} when the {}", r.porosity_low, r.porosity_high,
                        r.scan ? fmt::format("wall moves by {:.2f} voxel (5 % of the contrast)", r.moved_wall)
                               : "threshold moves by 5 % of the contrast"));
  std::vector<std::string> along;
  for (std::size_t d = 0; d < 3; ++d)
    along.push_back(r.statistics.percolates[d]
                        ? fmt::format("{} {:.5f}", axis_names[d], r.statistics.connected_porosity[d])
                        : fmt::format("{} none", axis_names[d]));
  return text + import_line("connected along", join(along));
}

/// "at least" where the ball is as wide as the image.
std::string diameter_text(double diameter, const SizeDistribution& d, double voxel) {
  return (d.share_bound > 0 && diameter >= d.bound ? "at least " : "") + format_si(diameter * voxel, "m");
}

std::string size_line(const char* name, const SizeDistribution& d, double voxel, std::int64_t count) {
  if (d.share.empty()) return "";
  return import_line(name, fmt::format("{} (10 to 90 %: {} to {}); {} of them", diameter_text(d.median, d, voxel),
                                       diameter_text(d.tenth, d, voxel), diameter_text(d.ninetieth, d, voxel), count));
}

}  // namespace

std::string import_text(const ImportReport& r) {
  const ImageStatistics& s = r.statistics;
  std::string text = image_lines(r);
  for (const std::string& w : r.warnings) text += fmt::format("  warning: {}\n", w);
  text += pore_line(r) + scan_line(r) + phases_line(r) + cleaned_line(r);
  text += import_line("smoothing", fmt::format("{:g} voxels", r.smoothing)) + porosity_lines(r);
  text += import_line("specific surface", fmt::format("{:.4g} 1/m", s.specific_surface / r.voxel));
  text += size_line("median pore", s.pore_size, r.voxel, s.pores);
  text += size_line("median throat", s.throat_size, r.voxel, s.throats);
  if (s.suggested_width > 0)
    text += import_line("grid", fmt::format("cells of {} suggested ({:g} voxel)",
                                            format_si(s.suggested_width * r.voxel, "m"), s.suggested_width));
  text += import_line("time", format_seconds(r.seconds));
  text.pop_back();
  return text;
}

}  // namespace karst
