// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/deck/source.hpp"
#include "app/job/job.hpp"
#include "app/output/field_view.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// Writes the fields that output.plot asks for: those of the geometry, then those of the jobs that ran. Nothing is
/// written when there are none, nor where no cell holds fluid. Throws the same Error on all ranks, also where a
/// component is on another ground. Collective.
/// @param time  of the fields [s]
PlotSize write_plot(const JobContext& run, const Source& source, const std::string& path,
                    const std::vector<JobComponent>& of_jobs, double time = 0.0);

/// Unit of a component in files: amounts of [chemistry] are in mol/kgw, all else as PlotWord says.
std::string unit_of(const Config& config, const JobComponent& component);

/// How a plotfile is parted, to be said behind what it is for; empty where output.files asks for one file.
std::string told_parts(const JobContext& run, const PlotSize& size);

/// Fields of jobs for pictures: what a plotfile with them would hold. It keeps the ground
/// and what the components keep.
FieldView view_of(const JobContext& run, std::vector<JobComponent> of_jobs);

}  // namespace karst
