// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "geometry_import/import.hpp"

namespace karst {

/// How the geometry was made, for the geometry file: JSON without date, folder, or anything else that differs between
/// two imports of the same image by the same program.
std::string provenance(const ImportReport& report, const ImportOptions& options);

}  // namespace karst
