// SPDX-License-Identifier: BSD-3-Clause
// Data of a trace about collective calls, in addition to their times.
#pragma once

#include <cstdint>

namespace karst::trace {

/// The slice that this thread began last is a call for the ranks 0, n, 2n ... of all.
/// @param name   of the slice; nothing is stored if the buffer was full
/// @param every  n
/// @param root   the one of these ranks that the others hear from, 0 where all take part alike
void among(std::uint32_t name, int every, int root);

}  // namespace karst::trace
