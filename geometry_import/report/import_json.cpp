// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/import_json.hpp"

#include <cmath>

#include "base/core/version.hpp"
#include "base/file/json.hpp"
#include "geometry_import/file/provenance.hpp"

namespace karst {
namespace {

Json or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json j = Json::array();
  for (const double v : values) j.push_back(or_null(v));
  return j;
}

Json of_clusters(const ClusterSum& sum) { return {{"clusters", sum.clusters}, {"voxels", sum.voxels}}; }

std::string text_of(const Json& j, int indent) { return j.dump(indent); }

void add_image(Json& j, const ImportReport& r) {
  j["karst"] = version();
  j["file"] = r.file;
  j["format"] = r.format;
  j["type"] = name_of(r.type);
  j["file_voxels"] = r.file_voxels.v;
  j["file_spacing_m"] = r.file_spacing.v;
  j["prepared"] = r.prepared;
  j["sample"] = nullptr;
  if (r.sample)
    j["sample"] = {
        {"center_voxels", {r.sample->x, r.sample->y}}, {"radius_voxels", r.sample->radius}, {"share", r.sample_share}};
  j["voxels"] = r.voxels.v;
  j["voxel_m"] = r.voxel;
  j["voxel_from_file"] = r.voxel_from_file;
  j["z_assumed"] = r.z_assumed;
}

void add_segmentation(Json& j, const ImportReport& r) {
  j["segmentation"] = r.segmentation;
  j["threshold"] = or_null(r.threshold);
  j["thresholds"] = r.thresholds;
  j["class_peaks"] = numbers(r.peaks);
  j["seed_threshold"] = or_null(r.seed_threshold);
  j["pore"] = or_null(r.pore);
  j["pore_above"] = r.pore_above;
  j["values"] = {r.smallest, r.largest};
  j["contrast"] = or_null(r.contrast);
  j["porosity_threshold_low"] = or_null(r.porosity_low);
  j["porosity_threshold_high"] = or_null(r.porosity_high);
  j["wall_uncertainty_voxels"] = or_null(r.moved_wall);
  if (std::isfinite(r.seed_threshold))
    j["seeds"] = {{"grown_voxels", r.seeds.grown}, {"without_seed", of_clusters(r.seeds.without_seed)}};
  j["rim_voxels"] = r.rim_voxels;
  j["removed"] = {{"specks", of_clusters(r.cleaned.specks)},
                  {"holes", of_clusters(r.cleaned.holes)},
                  {"dropped_pores", of_clusters(r.cleaned.dropped)}};
  j["phases"] = json_of(r.phases);
}

Json of_sizes(const SizeDistribution& d) {
  return {{"bin_width", d.bin_width},    {"share", d.share},         {"mean", d.mean},
          {"smallest", d.smallest},      {"largest", d.largest},     {"tenth", d.tenth},
          {"median", d.median},          {"ninetieth", d.ninetieth}, {"bound", d.bound},
          {"share_bound", d.share_bound}};
}

/// Lengths in voxels.
Json of_statistics(const ImageStatistics& s) {
  Json j;
  j["porosity"] = s.porosity;
  j["percolates"] = s.percolates;
  j["connected_porosity"] = s.connected_porosity;
  j["enclosed_porosity"] = s.enclosed_porosity;
  j["pore_clusters"] = s.pore_clusters;
  j["porosity_profile"] = s.profile;
  j["specific_surface"] = s.specific_surface;
  j["pore_size"] = of_sizes(s.pore_size);
  j["pores"] = s.pores;
  j["throats"] = s.throats;
  j["coordination"] = s.coordination;
  j["throat_size"] = of_sizes(s.throat_size);
  j["thin_throats"] = s.thin_throats;
  j["critical_diameter"] = s.critical_diameter;
  j["correlation"] = s.correlation;
  j["correlation_length"] = s.correlation_length;
  j["suggested_width"] = s.suggested_width;
  j["suggestion"] = s.suggestion;
  return j;
}

/// What report and provenance share.
Json common(const ImportReport& r) {
  Json j;
  add_image(j, r);
  add_segmentation(j, r);
  j["smoothing_voxels"] = r.smoothing;
  j["shift_voxels"] = r.shift;
  j["gradient_per_voxel"] = r.gradient;
  j["scan"] = nullptr;
  if (r.scan)
    j["scan"] = {{"pore", r.scan->pore},
                 {"solid", r.scan->solid},
                 {"blur_voxels", r.scan->blur},
                 {"misfit", r.scan->misfit},
                 {"scatter", r.scan->scatter},
                 {"noise", r.scan->noise},
                 {"minerals", r.scan->minerals},
                 {"pore_offset", r.scan->pore_offset},
                 {"solid_offset", r.scan->solid_offset},
                 {"rounds", r.scan->rounds}};
  j["porosity"] = r.porosity;
  j["level_set_porosity"] = r.level_set_porosity;
  j["wall_area_voxels"] = r.wall_area;
  j["warnings"] = r.warnings;
  return j;
}

}  // namespace

std::string provenance(const ImportReport& report, const ImportOptions& options) {
  Json j = common(report);
  if (options.type) j["raw"] = {{"endian", options.big_endian ? "big" : "little"}, {"skip_bytes", options.skip_bytes}};
  const SizeDistribution& throats = report.statistics.throat_size;
  j["throats_voxels"] = {{"count", report.statistics.throats},
                         {"tenth", throats.tenth},
                         {"median", throats.median},
                         {"ninetieth", throats.ninetieth}};
  return text_of(j, -1);
}

std::string to_json(const ImportReport& report) {
  Json j = common(report);
  j["histogram"] = {{"low", report.histogram.low}, {"high", report.histogram.high}, {"count", report.histogram.count}};
  j["statistics"] = of_statistics(report.statistics);
  j["seconds"] = report.seconds;
  j["memory_peak_bytes"] = report.memory_peak_bytes;
  return text_of(j, 2) + "\n";
}

}  // namespace karst
