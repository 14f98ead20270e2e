// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/provenance.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/version.hpp"

namespace karst {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

/// What report and provenance share.
Json common(const ImportReport& r) {
  Json j;
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
  j["segmentation"] = r.segmentation;
  j["threshold"] = or_null(r.threshold);
  j["pore"] = or_null(r.pore);
  j["pore_above"] = r.pore_above;
  j["values"] = {r.smallest, r.largest};
  j["smoothing_voxels"] = r.smoothing;
  j["shift_voxels"] = r.shift;
  j["gradient_per_voxel"] = r.gradient;
  j["porosity"] = r.porosity;
  j["level_set_porosity"] = r.level_set_porosity;
  j["warnings"] = r.warnings;
  return j;
}

}  // namespace

std::string provenance(const ImportReport& report, const ImportOptions& options) {
  Json j = common(report);
  if (options.type) j["raw"] = {{"endian", options.big_endian ? "big" : "little"}, {"skip_bytes", options.skip_bytes}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const ImportReport& report) {
  Json j = common(report);
  j["seconds"] = report.seconds;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace karst
