// SPDX-License-Identifier: BSD-3-Clause
// How far a run has come, as one line of JSON that `karst status` reads:
//   {"begun_s":..., "told_s":..., "part":0.31, "left_s":120, "what":"transport, step 310 of 1000", "note":"t = 3.1 s"}
// Times are seconds since 1970; left_s is null while too little is done to tell.
#pragma once

#include <string>

#include "base/file/log.hpp"

namespace karst {

/// Now [s since 1970].
double unix_time();

std::string status_line(const ProgressState& state, double begun);

}  // namespace karst
