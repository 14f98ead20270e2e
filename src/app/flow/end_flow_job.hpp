// SPDX-License-Identifier: BSD-3-Clause
// Job `flow` where the velocity of an end is given: of an inlet, or of lids.
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "ins/upscale/body_forces.hpp"

namespace karst {

class Json;

inline bool ends_drive(const Config& config) { return ends_drive(config.flow); }

/// Member inlet_flow or lid_flow of summary.json, and reynolds. Collective.
JobResult run_end_flow(const JobContext& context);
/// Forces on flow.body [N] and their coefficients, as a list.
Json forces_json(std::span<const BodyForce> forces, const FlowOptions& options, const FluidOptions& fluid);
/// A card of the page with that list. Not collective.
std::string forces_card(const Json& bodies);
/// The member that a summary has; null: none.
const char* end_flow_key(const Json& summary);
/// See Job.
std::vector<std::string> end_flow_mistakes(const JobContext& context);
PagePart end_flow_page(const Json& summary, const Figures& figures);
void draw_end_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);

}  // namespace karst
