// SPDX-License-Identifier: BSD-3-Clause
// Slices: planes through the fields of a run in time, or means along an axis, written often and small.
#pragma once

#include <functional>
#include <vector>

#include "app/job/files_in_time.hpp"

namespace karst {

/// Planes that lie beyond the domain. Not collective.
std::vector<std::string> slice_mistakes(const JobContext& run);

/// Writes the slices that are due at the time of a step: slice_NAME_0001.vti and the list of them,
/// slice_NAME.vti.series. They hold the fields that output.plot asks of the jobs, NaN without fluid, cells of finer
/// levels averaged. Collective.
/// @param fields  made where a slice is due
void write_slices(const JobContext& run, FilesInTime& files, double time,
                  const std::function<std::vector<JobComponent>()>& fields);

}  // namespace karst
