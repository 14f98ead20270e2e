// SPDX-License-Identifier: BSD-3-Clause
// Files as others may have left them: a folder of results may come from an archive or a shared disk, with links,
// devices and pipes under the names of results. What is no plain file is neither read nor replaced.
#pragma once

#include <optional>
#include <string>

namespace karst {

/// "a symbolic link", "a folder", "a device", "a pipe", "a socket"; empty for a plain file and for a path that does not
/// exist. Links are not followed in the last part of the path.
std::string special_file(const std::string& path);

/// All bytes of a plain file, or nothing: it is not there, is no plain file or cannot be read. Never waits for a pipe.
std::optional<std::string> plain_text(const std::string& path);

/// Opens a plain file for writing and creates it if necessary; never through a link. Returns its descriptor. Throws
/// Error: it cannot be written, or is not a plain file.
/// @param keep  the existing content; otherwise the file is truncated
/// @param name  of the file in messages
int open_plain_file(const std::string& path, bool keep, const std::string& name);

}  // namespace karst
