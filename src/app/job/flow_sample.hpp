// SPDX-License-Identifier: BSD-3-Clause
// What numbers of a flow refer to: the sample of a run.
#pragma once

#include "app/job/job.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// Reynolds number of a creeping flow beyond which there is a warning.
constexpr double largest_creeping_reynolds = 1.0;

/// Of the run.
/// @param h  of its cells, which may be other than those of the run
inline FlowSample sample_of(const JobContext& run, double h) {
  const GeometryReport& report = run.sample_report();
  return {h, report.connected_porosity, report.specific_surface / h};
}

}  // namespace karst
