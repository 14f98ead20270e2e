// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "geometry_import/report/import_report.hpp"
#include "geometry_import/report/report.hpp"

namespace karst {

/// The page that shows an import. Pictures are on it when the import gathered them (ImportOptions::pictures), on rank
/// 0.
ReportPage import_page(const ImportReport& report);

}  // namespace karst
