// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace karst {

std::string_view version();  ///< of the project, e.g. 0.1.0
std::string_view git_id();   ///< commit that was built, with + when files were changed; "unknown" outside of git
std::string_view version_and_git_id();  ///< 0.1.0 (0123456789ab)

}  // namespace karst
