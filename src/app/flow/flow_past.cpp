// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_past.hpp"

#include "app/flow/flow_quantities.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

Json state_json(const FlowHistory& history, const FlowState& s) {
  Json json;
  each_quantity(history, s, ToJson{json, shown::record});
  json["probes"] = s.probes;
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
  s.probes = json.at("probes").get<ProbeValues>();
  return s;
}

}  // namespace

Json past_json(const FlowPast& past) {
  const FlowHistory& h = past.history;
  Json json{{"steps", h.steps},
            {"iterations", h.iterations},
            {"time", h.time},
            {"velocity", h.velocity},
            {"gradient", h.gradient},
            {"longest_step", past.longest_step},
            {"failures", past.failures},
            {"at_jump", past.at_jump},
            {"largest_velocity", past.largest_velocity},
            {"largest_divergence", past.largest_divergence},
            {"files", files_json(past.files)},
            {"frames", frames_json(past.frames)},
            {"clock", past.clock}};
  json["states"] = Json::array();
  for (const FlowState& s : h.states) json["states"].push_back(state_json(h, s));
  json["forces"] = Json::array();
  for (const std::vector<Vec3>& body : h.forces.totals) {
    Json& all = json["forces"].push_back(Json::array());
    for (const Vec3& force : body) all.push_back(force);
  }
  return json;
}

void take_past(const Json& json, FlowPast& past) {
  FlowHistory& h = past.history;
  const std::size_t n_bodies = h.forces.options.bodies.size();
  require(json.at("forces").size() == n_bodies, "{} bodies instead of {}", json.at("forces").size(), n_bodies);
  h.steps = json.at("steps");
  h.iterations = json.at("iterations");
  h.time = json.at("time").get<std::vector<double>>();
  h.velocity = json.at("velocity").get<std::vector<double>>();
  h.gradient = json.at("gradient").get<std::vector<double>>();
  h.states.clear();
  for (const Json& s : json.at("states")) {
    const FlowState& state = h.states.emplace_back(state_of(h, s));
    require(state.probes.size() == h.probes.size(), "{} probes instead of {}", state.probes.size(), h.probes.size());
    require(state.forces.size() == n_bodies, "forces on {} bodies instead of {}", state.forces.size(), n_bodies);
  }
  h.forces.totals.clear();
  for (const Json& body : json.at("forces")) {
    std::vector<Vec3>& all = h.forces.totals.emplace_back();
    for (const Json& force : body) take_value(force, all.emplace_back());
  }
  const Json& longest = json.at("longest_step");
  past.longest_step = longest.is_null() ? std::numeric_limits<double>::infinity() : longest.get<double>();
  past.failures = json.at("failures");
  past.at_jump = json.at("at_jump");
  past.largest_velocity = json.at("largest_velocity");
  past.largest_divergence = json.at("largest_divergence");
  take_files(json.at("files"), past.files);
  past.frames = frames_of(json.at("frames"));
  past.clock = json.at("clock").get<std::vector<double>>();
}

}  // namespace karst
