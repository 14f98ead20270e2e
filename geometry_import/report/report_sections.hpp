// SPDX-License-Identifier: BSD-3-Clause
// The parts of the page, from top to bottom.
#pragma once

#include <string>

#include "geometry_import/report/report.hpp"

namespace karst {

std::string tiles_section(const ReportPage& page);
std::string body_section(const ReportPage& page);    ///< the 3-D view
std::string slices_section(const ReportPage& page);  ///< before and after
std::string phases_section(const ReportPage& page);
std::string cleaning_section(const ReportPage& page);
std::string made_section(const ReportPage& page);

}  // namespace karst
