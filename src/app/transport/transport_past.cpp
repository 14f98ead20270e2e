// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_past.hpp"

#include <utility>

#include "app/transport/transport_quantities.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

Json line_json(const TransportLine& l) {
  Json json;
  each_quantity(l, ToJson{json, shown::record});
  for (const ComponentLine& c : l.components) {
    Json& component = json["components"].push_back({});
    each_quantity(c, ToJson{component, shown::record});
    component["probes"] = c.probes;
  }
  return json;
}

TransportLine line_of(const Json& json) {
  TransportLine l;
  each_quantity(l, FromRecord{json});
  for (const Json& from : json.at("components")) {
    ComponentLine& c = l.components.emplace_back();
    each_quantity(c, FromRecord{from});
    c.probes = from.at("probes").get<std::vector<double>>();
  }
  return l;
}

}  // namespace

Json past_json(const TransportPast& past) {
  const TransportResult& r = past.result;
  Json json{{"end", past.times.end},
            {"dt", past.times.dt},
            {"output", past.times.output},
            {"time", past.time},
            {"carried", past.carried},
            {"continuity", {r.continuity_before, r.continuity_after}},
            {"pore_time", r.pore_time},
            {"steps", r.steps},
            {"longest", r.dt},
            {"implicit", r.implicit_volumes},
            {"iterations", r.iterations},
            {"output_times", r.output_times},
            {"files", files_json(past.files)},
            {"drawn", past.outputs_drawn},
            {"figures", past.figures}};
  if (!past.chemistry.is_null()) json["chemistry"] = past.chemistry;
  json["frames"] = Json::array();
  for (const PlaneFrames& f : past.frames) json["frames"].push_back(frames_json(f));
  for (const TransportLine& l : r.states) json["states"].push_back(line_json(l));
  for (std::size_t i = 0; i < r.components.size(); ++i) {  // NOLINT(modernize-loop-convert): i is used
    const ComponentResult& c = r.components[i];
    json["components"].push_back({{"name", c.name},
                                  {"low", c.low},
                                  {"high", c.high},
                                  {"least", c.least},
                                  {"largest", c.largest},
                                  {"imbalance", c.imbalance},
                                  {"moments_wanted", c.moments_wanted},
                                  {"range", {past.range[i].least, past.range[i].largest}},
                                  {"at_inlet", past.at_inlet[i].sums()},
                                  {"at_outlet", past.at_outlet[i].sums()}});
  }
  return json;
}

void take_past(const Json& json, TransportPast& past) {
  TransportResult& r = past.result;
  require(json.at("components").size() == r.components.size(), "{} components instead of {}",
          json.at("components").size(), r.components.size());
  past.times.end = json.at("end");
  past.times.dt = json.at("dt");
  past.times.output = json.at("output");
  past.time = json.at("time");
  past.carried = json.at("carried");
  r.continuity_before = json.at("continuity").at(0);
  r.continuity_after = json.at("continuity").at(1);
  r.pore_time = json.at("pore_time");
  r.steps = json.at("steps");
  r.dt = json.at("longest");
  r.implicit_volumes = json.at("implicit");
  r.iterations = json.at("iterations");
  r.output_times = json.at("output_times").get<std::vector<double>>();
  take_files(json.at("files"), past.files);
  past.outputs_drawn = json.at("drawn");
  past.figures = json.at("figures").get<Figures>();
  past.chemistry = json.contains("chemistry") ? json.at("chemistry") : Json();
  past.frames.clear();
  for (const Json& f : json.at("frames")) past.frames.push_back(frames_of(f));
  r.states.clear();
  for (const Json& line : json.at("states")) {
    const TransportLine& state = r.states.emplace_back(line_of(line));
    require(state.components.size() == r.components.size(), "lines of {} components instead of {}",
            state.components.size(), r.components.size());
    for (const ComponentLine& c : state.components)
      require(c.probes.size() == r.probes.size(), "{} probes instead of {}", c.probes.size(), r.probes.size());
  }
  past.range.clear();
  past.at_inlet.clear();
  past.at_outlet.clear();
  for (std::size_t i = 0; i < r.components.size(); ++i) {
    const Json& from = json.at("components").at(i);
    ComponentResult& c = r.components[i];
    require(from.at("name") == c.name, "component {} instead of {}", from.at("name").get<std::string>(), c.name);
    c.low = from.at("low");
    c.high = from.at("high");
    c.least = from.at("least");
    c.largest = from.at("largest");
    c.imbalance = from.at("imbalance");
    c.moments_wanted = from.at("moments_wanted");
    past.range.push_back({from.at("range").at(0), from.at("range").at(1)});
    past.at_inlet.emplace_back(from.at("at_inlet").get<SignalMoments::Sums>());
    past.at_outlet.emplace_back(from.at("at_outlet").get<SignalMoments::Sums>());
  }
}

}  // namespace karst
