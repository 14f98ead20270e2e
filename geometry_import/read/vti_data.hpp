// SPDX-License-Identifier: BSD-3-Clause
// Arrays in VTK's XML files. Inside geometry_import only.
#pragma once

#include <memory>

#include "geometry_import/read/readers.hpp"
#include "geometry_import/read/xml_file.hpp"

namespace karst {

/// The voxels of an array, wherever they are in the file. Throws Error unless the array has the bytes that the layout
/// needs, no fewer and no more, with right check sums where they are compressed.
/// @param layout  size and type; where the voxels are and their byte order is found here
/// @param root    the file's element VTKFile
/// @param array   an element DataArray in it
std::unique_ptr<ImageFile> open_vti_array(ImageInfo info, RawLayout layout, const XmlElement& root,
                                          const XmlElement& array);

}  // namespace karst
