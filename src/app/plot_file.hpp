// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/source.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// Writes the fields that output.plot asks for: those of the geometry, then those of the jobs that ran. Nothing is
/// written when there are none. Throws the same Error on all ranks. Collective.
PlotSize write_plot(const JobContext& run, const Source& source, const std::string& path,
                    const std::vector<JobComponent>& of_jobs);

}  // namespace karst
