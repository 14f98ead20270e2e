// SPDX-License-Identifier: BSD-3-Clause
// Images between two steps, kept in a file instead of in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/comm/comm.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Fills planes [first, last) of an image, x fastest. Called for some planes at a time, in order.
using FillPlanes = std::function<void(int first, int last, std::span<float> values)>;

/// Makes an image from what `fill` gives; every rank fills an equal run of planes, 16 at most at a time. Its values lie
/// in a file that starts with `path` and loses its name before the call returns (one rank: before anything is written),
/// so nothing is left behind; its space is given back with the image. Throws Error on all ranks: file cannot be made,
/// disk full, fill throws. Collective.
std::unique_ptr<ImageFile> kept_in_scratch(const Comm& comm, const ImageInfo& info, const std::string& path,
                                           const FillPlanes& fill);

}  // namespace karst
