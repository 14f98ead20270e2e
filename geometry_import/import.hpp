// SPDX-License-Identifier: BSD-3-Clause
// From an image to a geometry file: read, prepare, segment, clean, level set, distances, statistics. Layers of 32
// planes are handed to the ranks in turn; each is worked on with the planes around it that it depends on, so no rank
// holds the image (except those with ImageInfo::held_whole) and the result does not depend on the number of ranks.
#pragma once

#include <memory>
#include <string>

#include "base/comm/comm.hpp"
#include "geometry_import/read/image_file.hpp"
#include "geometry_import/report/import_report.hpp"
#include "geometry_import/segment/import_options.hpp"

namespace karst {

class Reader;

/// Declares the keys of [geometry.import]. The image is named by geometry.image: set options.file from there.
void read(Reader& in, ImportOptions& options);

/// Opens the image as the options say. Throws Error: what open_image() throws, and a raw file without type or size.
/// Not collective.
std::unique_ptr<ImageFile> open_image(const ImportOptions& options);

/// Imports an image and writes a geometry file. Throws the same Error on all ranks; then no file is left. Collective.
ImportReport import_image(const Comm& comm, const ImportOptions& options, const std::string& output);

}  // namespace karst
