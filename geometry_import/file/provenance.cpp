// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/file/provenance.hpp"

#include <fmt/format.h>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

Json json_of(const std::vector<PhaseShare>& phases) {
  Json j = Json::array();
  for (const PhaseShare& p : phases) j.push_back({{"label", p.label}, {"name", p.name}, {"share", p.share}});
  return j;
}

std::string to_json(const std::vector<PhaseShare>& phases) { return json_of(phases).dump(); }

std::vector<PhaseShare> phases_from_json(const std::string& text, const std::string& path) {
  std::vector<PhaseShare> phases;
  try {
    for (const Json& p : Json::parse(text)) phases.push_back({p.at("name"), p.at("label"), p.at("share")});
  } catch (const JsonError&) {
    throw Error(fmt::format("{}: the attribute phases is damaged; import the image again", path));
  }
  return phases;
}

ImportFindings findings(const std::string& provenance, const std::string& path) {
  ImportFindings found;
  try {
    const Json j = Json::parse(provenance);
    if (j.contains("warnings")) found.warnings = j.at("warnings").get<std::vector<std::string>>();
    if (j.contains("throats_voxels")) {
      const Json& t = j.at("throats_voxels");
      found.throats = {t.at("count"), t.at("tenth"), t.at("median"), t.at("ninetieth")};
    }
    found.cut_out = j.contains("sample") && !j.at("sample").is_null();
    if (j.contains("wall_uncertainty_voxels") && !j.at("wall_uncertainty_voxels").is_null())
      found.wall_uncertainty = j.at("wall_uncertainty_voxels").get<double>();
  } catch (const JsonError&) {
    throw Error(fmt::format("{}: the attribute provenance is damaged; import the image again", path));
  }
  return found;
}

}  // namespace karst
