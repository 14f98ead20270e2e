// SPDX-License-Identifier: BSD-3-Clause
#include "base/heap.hpp"

#include <malloc.h>

namespace karst {

void set_up_heap() {
  // Most arrays of an import are below the first: their pages serve again. trim_heap() hands back what is left.
  constexpr int large = 32 << 20, kept_at_the_end = 64 << 20;  // [bytes]; more than 32 MiB is refused
  mallopt(M_MMAP_MAX, 65536);
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, kept_at_the_end);
}

void trim_heap() { malloc_trim(0); }

}  // namespace karst
