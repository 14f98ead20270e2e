// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/version.hpp"

#include "git_id.hpp"  // made at every build, see git_id.cmake

namespace karst {

std::string_view version() { return KARST_VERSION; }
std::string_view git_id() { return KARST_GIT_ID; }
std::string_view version_and_git_id() { return KARST_VERSION " (" KARST_GIT_ID ")"; }

}  // namespace karst
