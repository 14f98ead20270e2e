// SPDX-License-Identifier: BSD-3-Clause
// What every run that uses an image is told before anything is built.
#pragma once

#include <string>
#include <vector>

#include "app/deck/source.hpp"

namespace karst {

/// "import: ..." for each warning of the import; periodic axes along which the image does not repeat itself; cells so
/// much wider than voxels that the throats are lost. Empty for described solids. The same on every rank. Collective.
/// @param compare_faces  look whether periodic axes repeat themselves; takes whole planes of the image
std::vector<std::string> image_warnings(const Comm& comm, const Source& source, bool compare_faces = true);

}  // namespace karst
