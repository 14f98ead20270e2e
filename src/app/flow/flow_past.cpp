// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_past.hpp"

#include <cmath>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// Calls f with each number of a state but those of forces.
template <class State, class F>
void for_numbers(State& s, F&& f) {
  for (auto* x :
       {&s.time, &s.dt, &s.gradient, &s.inflow, &s.outflow, &s.flow_rate, &s.kinetic_energy, &s.power, &s.dissipation,
        &s.growth, &s.time_scheme, &s.advection, &s.pressure_coupling, &s.largest_speed, &s.divergence, &s.cfl})
    f(*x);
  for (int d = 0; d < 3; ++d) f(s.darcy_velocity[d]);
  f(s.iterations);
}

Json list(const Vec3& v) { return {v[0], v[1], v[2]}; }
Vec3 vector_of(const Json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()};
}

Json state_json(const FlowState& s) {
  Json json{{"numbers", Json::array()}, {"forces", Json::array()}, {"probes", s.probes}};
  for_numbers(s, [&](const auto& x) { json["numbers"].push_back(x); });
  for (const BodyForce& f : s.forces) json["forces"].push_back({list(f.pressure), list(f.friction), f.wall_area});
  return json;
}

FlowState state_of(const Json& json) {
  FlowState s;
  std::size_t i = 0;
  for_numbers(s, [&](auto& x) { x = json.at("numbers").at(i++).get<std::decay_t<decltype(x)>>(); });
  for (const Json& f : json.at("forces")) s.forces.push_back({vector_of(f.at(0)), vector_of(f.at(1)), f.at(2)});
  s.probes = json.at("probes").get<ProbeValues>();
  return s;
}

}  // namespace

std::string past_json(const FlowPast& past) {
  const FlowHistory& h = past.history;
  Json json{{"steps", h.steps},
            {"iterations", h.iterations},
            {"time", h.time},
            {"velocity", h.velocity},
            {"gradient", h.gradient},
            {"longest_step", std::isfinite(past.longest_step) ? Json(past.longest_step) : Json(nullptr)},
            {"failures", past.failures},
            {"at_jump", past.at_jump},
            {"largest_velocity", past.largest_velocity},
            {"largest_divergence", past.largest_divergence},
            {"files", files_json(past.files)},
            {"frames", frames_json(past.frames)},
            {"clock", past.clock}};
  json["states"] = Json::array();
  for (const FlowState& s : h.states) json["states"].push_back(state_json(s));
  json["forces"] = Json::array();
  for (const std::vector<Vec3>& body : h.forces.totals) {
    Json& all = json["forces"].push_back(Json::array());
    for (const Vec3& force : body) all.push_back(list(force));
  }
  return json.dump();
}

void take_past(const std::string& text, FlowPast& past) {
  const Json json = Json::parse(text);
  FlowHistory& h = past.history;
  const std::size_t n_bodies = h.forces.options.bodies.size();
  require(json.at("forces").size() == n_bodies, "{} bodies in place of {}", json.at("forces").size(), n_bodies);
  h.steps = json.at("steps");
  h.iterations = json.at("iterations");
  h.time = json.at("time").get<std::vector<double>>();
  h.velocity = json.at("velocity").get<std::vector<double>>();
  h.gradient = json.at("gradient").get<std::vector<double>>();
  h.states.clear();
  for (const Json& s : json.at("states")) {
    const FlowState& state = h.states.emplace_back(state_of(s));
    require(state.probes.size() == h.probes.size(), "{} probes in place of {}", state.probes.size(), h.probes.size());
    require(state.forces.size() == n_bodies, "forces on {} bodies in place of {}", state.forces.size(), n_bodies);
  }
  h.forces.totals.clear();
  for (const Json& body : json.at("forces")) {
    std::vector<Vec3>& all = h.forces.totals.emplace_back();
    for (const Json& force : body) all.push_back(vector_of(force));
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
