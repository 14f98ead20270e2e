// SPDX-License-Identifier: BSD-3-Clause
// How long this rank waits for others: what is left of a time is what it has worked.
#pragma once

namespace karst {

/// In calls of comm.hpp that wait for other ranks, since the program began [s]. Not collective; of the thread that
/// communicates.
double seconds_waited();

}  // namespace karst
