// SPDX-License-Identifier: BSD-3-Clause
// What of a TIFF file its directories account for. Inside geometry_import only.
#pragma once

#include <string>

namespace karst {

/// Throws Error when strips, tiles, directories or arrays of tags of the chain of pages overlap, when a page that is
/// not compressed has fewer bytes than its pixels need, or when as much of the file as a page takes belongs to none:
/// then an offset is damaged, the chain of pages is cut, or planes lie in the file that no page names. Files with
/// directories beside the chain (pyramids, thumbnails) are not held to account for all their bytes.
void check_tiff_extents(const std::string& path);

}  // namespace karst
