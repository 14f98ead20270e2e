// SPDX-License-Identifier: BSD-3-Clause
// Job `flow` where the velocity is given at an inlet.
#pragma once

#include <string>
#include <vector>

#include "app/job.hpp"

namespace karst {

inline bool has_inlet(const Config& config) { return !config.flow.inlets.empty(); }

/// Member inlet_flow of summary.json, and reynolds. Collective.
JobResult run_inlet_flow(const JobContext& context);
/// See Job.
std::vector<std::string> inlet_flow_mistakes(const JobContext& context);
PagePart inlet_flow_page(const nlohmann::ordered_json& summary, const Figures& figures);
void draw_inlet_flow(const Comm& comm, const nlohmann::ordered_json& summary, const FieldView& view, Figures& figures);

}  // namespace karst
