// SPDX-License-Identifier: BSD-3-Clause
// A look into an image that a deck imports, without importing all of it.
#pragma once

#include <string>
#include <vector>

#include "app/deck/config.hpp"
#include "app/deck/source.hpp"
#include "base/comm/comm.hpp"
#include "base/file/atomic_file.hpp"

namespace karst {

/// A name in the system's folder for temporary files, the same on all ranks; the file is removed at the end,
/// also at that by a signal.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Comm& comm);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  RemovedOnSignals on_signals_;  // rank 0
};

/// The size of an image that is to be imported, after cropping.
struct ImageExtent {
  Index low, size;  ///< what is kept [voxels of the file]
  double voxels() const { return static_cast<double>(size[0]) * size[1] * size[2]; }
};
/// Throws Error when the image cannot be opened. Not collective.
ImageExtent image_extent(const Config& config);

/// Compressed in one piece, so that even a part of it takes all of it into memory. Not collective.
bool takes_all_memory(const Config& config);

/// A block of the image, imported as the deck says.
struct ImageBlock {
  Source source;  ///< its grid: the cells that fit into the block, not periodic
  std::unique_ptr<TemporaryFile> file;
};

struct ImageSample {
  std::vector<ImageBlock> blocks;
  GridOptions grid;                ///< of the whole image
  Index voxels;                    ///< of the whole image, prepared
  double share = 1.0;              ///< of the cells of the grid in the sample (cylinder)
  double seconds_per_voxel = 0.0;  ///< of the import, all ranks at work on one block after the other
};

/// Imports a few blocks that lie far from one another. Clusters are not removed: those of a block are not those of the
/// image. Blocks in which there is nothing to segment are left out; throws the last block's Error when none is left.
/// Collective.
ImageSample sample_image(const Comm& comm, const Config& config, const ImageExtent& extent);

}  // namespace karst
