// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace karst {

/// A run leaves files of this name in its folder: one of the names of results, or a part of such a plotfile. Never a
/// path: what a folder says of its files leads nowhere else.
bool is_result_name(const std::string& file);

}  // namespace karst
