// SPDX-License-Identifier: BSD-3-Clause
// The texts of a geometry file: names of phases, and what the provenance tells runs.
#pragma once

#include <string>
#include <vector>

#include "geometry_import/file/geometry_file.hpp"

namespace karst {

class Json;

/// [{"label": 0, "name": "pore", "share": 0.2}, ...], and as text.
Json json_of(const std::vector<PhaseShare>& phases);
std::string to_json(const std::vector<PhaseShare>& phases);
/// Throws Error naming the path when the text is not of that form.
std::vector<PhaseShare> phases_from_json(const std::string& text, const std::string& path);

/// What it tells runs. Throws Error naming the path when the text is no JSON or its entries are of another kind;
/// entries that are not there (older files) are left empty.
ImportFindings findings(const std::string& provenance, const std::string& path);

}  // namespace karst
