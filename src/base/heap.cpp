// SPDX-License-Identifier: BSD-3-Clause
#include "base/heap.hpp"

#include <malloc.h>

namespace karst {

void set_up_heap() {
  constexpr int large = 4 << 20, kept_at_the_end = 8 << 20;  // [bytes]
  mallopt(M_MMAP_MAX, 65536);
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, kept_at_the_end);
}

void trim_heap() { malloc_trim(0); }

}  // namespace karst
