// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_in_time_record.hpp"

#include <algorithm>
#include <cmath>

#include "app/flow/flow_quantities.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

Json state_json(const FlowHistory& history, const FlowState& s) {
  Json json;
  each_quantity(history, s, ToJson{json, shown::record});
  json["forces"] = Json::array();
  for (const BodyForce& f : s.forces) json["forces"].push_back({f.pressure, f.friction, f.wall_area});
  return json;
}

/// Without what its quantities may stand in: lids, whose friction is not kept.
FlowState state_of(const FlowHistory& history, const Json& json) {
  FlowState s;
  each_quantity(history, s, FromRecord{json});
  for (const Json& f : json.at("forces")) {
    BodyForce& force = s.forces.emplace_back();
    take_value(f.at(0), force.pressure);
    take_value(f.at(1), force.friction);
    force.wall_area = f.at(2);
  }
  return s;
}

/// Numbers and lists that stand for themselves.
template <class Record, class F>
void each_of_run(Record& r, F&& f) {
  f(Quantity{"iterations"}, r.history.iterations);
  f(Quantity{"time"}, r.history.time);
  f(Quantity{"velocity"}, r.history.velocity);
  f(Quantity{"gradient"}, r.history.gradient);
  f(Quantity{"forces"}, r.history.forces.totals);
  f(Quantity{"longest_step"}, r.steps.longest);
  f(Quantity{"failures"}, r.steps.failures);
  f(Quantity{"at_jump"}, r.at_jump);
  f(Quantity{"largest_velocity"}, r.largest_velocity);
  f(Quantity{"largest_divergence"}, r.largest_divergence);
}

}  // namespace

void add_step(const FlowState& state, FlowInTimeRecord& record) {
  FlowHistory& h = record.history;
  h.iterations += state.iterations;
  h.time.push_back(state.time);
  h.velocity.push_back(state.darcy_velocity[h.axis]);
  h.gradient.push_back(state.gradient);
  h.forces.add(state.forces);
  record.largest_velocity = std::max(record.largest_velocity, norm(state.darcy_velocity));
  record.largest_divergence = std::max(record.largest_divergence, state.divergence);
}

Json record_json(const FlowInTimeRecord& record) {
  Json json{{"states", Json::array()}};
  each_of_run(record, ToJson{json, shown::record});
  for (const FlowState& s : record.history.states) json["states"].push_back(state_json(record.history, s));
  return json;
}

void take_record(const Json& json, FlowInTimeRecord& record) {
  FlowHistory& h = record.history;
  const std::size_t n_bodies = h.forces.options.bodies.size();
  require(json.at("forces").size() == n_bodies, "{} bodies instead of {}", json.at("forces").size(), n_bodies);
  each_of_run(record, FromRecord{json});
  if (std::isnan(record.steps.longest)) record.steps = {.failures = record.steps.failures};  // JSON has no infinity
  h.states.clear();
  for (const Json& s : json.at("states")) {
    const FlowState& state = h.states.emplace_back(state_of(h, s));
    require(state.probes.size() == h.probes.size(), "{} values at probes instead of {}", state.probes.size(),
            h.probes.size());
    require(state.forces.size() == n_bodies, "forces on {} bodies instead of {}", state.forces.size(), n_bodies);
  }
}

}  // namespace karst
