// SPDX-License-Identifier: BSD-3-Clause
// Messages name keys of [geometry.import] in backquotes, `voxel = WIDTH`, and are said in the words of whoever gave
// them: as keys of a deck, voxel = WIDTH, or as options, --voxel WIDTH.
#pragma once

#include <string>
#include <string_view>

namespace karst {

/// The text with its keys as said. `karst ...` is a command and stays.
std::string with_keys_said(std::string_view text, bool by_options);

}  // namespace karst
