// SPDX-License-Identifier: BSD-3-Clause
// What the heap of the C library keeps of freed memory. Not collective.
#pragma once

namespace karst {

/// Returns freed memory to the system: large arrays at once, small ones from the end of the heap. To be called at the
/// start of a program because SuperLU_DIST, a dependency of PETSc, disables both for the whole process when it is
/// loaded (M_MMAP_MAX = 0, M_TRIM_THRESHOLD = -1). Smaller arrays are retained for reuse, because new pages cost time.
void set_up_heap();

/// Hands all free pages of the heap back. To be called where a part of a run ends that needed much for a while.
void trim_heap();

}  // namespace karst
