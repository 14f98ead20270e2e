// SPDX-License-Identifier: BSD-3-Clause
// Job `flow` where the velocity is given at an inlet.
#pragma once

#include <string>
#include <vector>

#include "app/job.hpp"
#include "ins/upscale/body_forces.hpp"

namespace karst {

class Json;

inline bool has_inlet(const Config& config) { return !config.flow.inlets.empty(); }

/// Member inlet_flow of summary.json, and reynolds. Collective.
JobResult run_inlet_flow(const JobContext& context);
/// Forces on flow.body [N] and their coefficients, as a list.
Json forces_json(std::span<const BodyForce> forces, const FlowOptions& options, const FluidOptions& fluid);
/// A card of the page with that list. Not collective.
std::string forces_card(const Json& bodies);
/// See Job.
std::vector<std::string> inlet_flow_mistakes(const JobContext& context);
PagePart inlet_flow_page(const Json& summary, const Figures& figures);
void draw_inlet_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);

}  // namespace karst
