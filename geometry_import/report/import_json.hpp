// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "geometry_import/report/import_report.hpp"
#include "geometry_import/segment/import_options.hpp"

namespace karst {

/// How the geometry was made, for the geometry file: JSON without date, folder, or anything else that differs between
/// two imports of the same image by the same program.
std::string provenance(const ImportReport& report, const ImportOptions& options);

/// All that the import tells, as JSON.
std::string to_json(const ImportReport& report);

}  // namespace karst
