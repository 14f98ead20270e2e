// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "geometry_import/geometry_file.hpp"
#include "geometry_import/import.hpp"

namespace karst {

/// [{"label": 0, "name": "pore", "share": 0.2}, ...]
std::string to_json(const std::vector<PhaseShare>& phases);
/// Throws Error naming the path when the text is not of that form.
std::vector<PhaseShare> phases_from_json(const std::string& text, const std::string& path);

/// How the geometry was made, for the geometry file: JSON without date, folder, or anything else that differs between
/// two imports of the same image by the same program.
std::string provenance(const ImportReport& report, const ImportOptions& options);
/// What it tells runs. Throws Error naming the path when the text is no JSON or its entries are of another kind;
/// entries that are not there (older files) are left empty.
ImportFindings findings(const std::string& provenance, const std::string& path);

}  // namespace karst
