// SPDX-License-Identifier: BSD-3-Clause
// How much memory a run may take where it runs.
#pragma once

#include <filesystem>
#include <string>

#include "base/comm/comm.hpp"

namespace karst {

struct MemoryLimit {
  double bytes = 0;
  std::string by;  ///< "free memory of the machine", ...
};

/// The least of: what the system says is available (MemAvailable), what the control groups of this process and of its
/// parents leave (a container or batch job; versions 1 and 2). Infinite where nothing is known. Not collective.
/// @param root  where /proc and /sys lie
MemoryLimit memory_of_node(const std::filesystem::path& root = "/");
/// Limit of the address space of one process (ulimit -v); infinite when there is none. Not collective.
MemoryLimit memory_of_process();

/// Of the node with the least memory for each of its ranks.
struct MemoryShare {
  MemoryLimit node;
  int ranks = 1;  ///< of this run on it
  MemoryLimit process;
  /// A rank may take so much when all take the same [bytes].
  MemoryLimit of_rank() const;
};
/// Collective; the same on every rank.
MemoryShare memory_share(const Comm& comm);

/// What the import of an image takes at most [bytes].
constexpr double per_imported_voxel = 3.6, per_importing_rank = 125e6;
/// Voxels that so many ranks can import with so much memory for each [bytes].
double voxels_that_fit(double bytes_of_rank, int ranks);

}  // namespace karst
