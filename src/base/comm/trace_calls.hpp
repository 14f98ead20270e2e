// SPDX-License-Identifier: BSD-3-Clause
// What a trace tells of calls for several ranks beside when they are made.
#pragma once

#include <cstdint>

namespace karst::trace {

/// The slice that this thread began last is a call for the ranks 0, n, 2n ... of all.
/// @param name   of the slice; nothing is told where it found no room
/// @param every  n
/// @param root   the one of these ranks that the others hear from, 0 where all take part alike
void among(std::uint32_t name, int every, int root);

}  // namespace karst::trace
