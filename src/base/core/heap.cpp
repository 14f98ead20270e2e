// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/heap.hpp"

#include <malloc.h>

namespace karst {

void set_up_heap() {
  // Most arrays of a run of 128³ cells are below the first: their pages serve again. With 32 MiB an import of 512³
  // voxels kept 1.0 GB instead of 0.6.
  constexpr int large = 16 << 20, kept_at_the_end = 64 << 20;  // [bytes]
  mallopt(M_MMAP_MAX, 65536);
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, kept_at_the_end);
}

void trim_heap() { malloc_trim(0); }

}  // namespace karst
