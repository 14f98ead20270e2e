// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace karst {

/// Whether this is the name of a file that a run writes into its folder: one of the names of results, or a part of such
/// a plotfile. Paths are never accepted, so that lists of files cannot refer to other folders.
bool is_result_name(const std::string& file);

}  // namespace karst
