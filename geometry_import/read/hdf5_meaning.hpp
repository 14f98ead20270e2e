// SPDX-License-Identifier: BSD-3-Clause
// What programs write into HDF5 beside an array: NetCDF-4, EMD (tomviz), MATLAB 7.3, ilastik, and karst.formats. Inside
// geometry_import only.
#pragma once

#include <hdf5.h>

#include <array>
#include <string>
#include <vector>

#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Which dimension of the data set is x, y, z; -1: none (a plane has no z).
using Hdf5Axes = std::array<int, 3>;

/// Sets widths, notes and all else of the description except size and type.
/// @param path  of file and data set, for messages
/// @param size  of the data set, two or three dimensions
/// @return x is the last dimension unless the file names its dimensions otherwise
Hdf5Axes read_hdf5_meaning(hid_t file, hid_t data, const std::vector<hsize_t>& size, ImageInfo& info);

}  // namespace karst
