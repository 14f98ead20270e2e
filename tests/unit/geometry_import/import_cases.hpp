// SPDX-License-Identifier: BSD-3-Clause
// Imports of small images.
#pragma once

#include <gtest/gtest.h>

#include "geometry_import/import.hpp"
#include "support/errors.hpp"

namespace karst::test {

/// A raw image with voxels of 1 µm.
inline ImportOptions raw_image(const std::string& path, const Index& size, VoxelType type) {
  ImportOptions o;
  o.file = path;
  o.size = size;
  o.type = type;
  o.voxel = 1e-6;
  return o;
}

/// What is wrong with an import, the same on all ranks. Collective.
inline std::string import_error(const Comm& comm, const ImportOptions& o, const std::string& out) {
  std::string text = error_of([&] { import_image(comm, o, out); }), first = text;
  comm.broadcast(first);
  EXPECT_EQ(text, first);
  return text;
}

}  // namespace karst::test
