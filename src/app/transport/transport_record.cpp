// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_record.hpp"

#include <algorithm>

#include "app/transport/transport_quantities.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// Numbers and lists that stand for themselves.
void each_of_run(auto& r, auto&& f) {
  f(Quantity{"longest_step"}, r.longest_step);
  f(Quantity{"iterations"}, r.iterations);
  f(Quantity{"output_times"}, r.output_times);
  f(Quantity{"figures"}, r.figures);
}

}  // namespace

TransportRecord begin_record(const TransportLine& start) {
  TransportRecord record;
  record.states.push_back(start);
  for (const ComponentLine& c : start.components)
    record.components.push_back({c.least, c.largest, 0.0, SignalMoments(c.mean), SignalMoments(c.mean)});
  return record;
}

void add_step(const TransportLine& line, int iterations, double inflow, TransportRecord& record) {
  record.longest_step = std::max(record.longest_step, line.dt);
  record.iterations += iterations;
  for (std::size_t i = 0; i < line.components.size(); ++i) {
    const ComponentLine& c = line.components[i];
    ComponentRecord& r = record.components[i];
    r.least = std::min(r.least, c.least);
    r.largest = std::max(r.largest, c.largest);
    r.imbalance = std::max(r.imbalance, c.imbalance);
    if (inflow == 0.0) continue;
    r.at_inlet.add(line.time, c.inflow / inflow);
    r.at_outlet.add(line.time, c.outlet);
  }
}

Json record_json(const TransportRecord& record) {
  Json json{{"states", json_of(record.states, shown::record)}, {"components", Json::array()}};
  each_of_run(record, ToJson{json, shown::record});
  for (const ComponentRecord& c : record.components)
    json["components"].push_back({{"least", c.least},
                                  {"largest", c.largest},
                                  {"imbalance", c.imbalance},
                                  {"at_inlet", c.at_inlet.sums()},
                                  {"at_outlet", c.at_outlet.sums()}});
  return json;
}

void take_record(const Json& json, TransportRecord& record) {
  const std::vector<ComponentLine> start = record.states.front().components;
  const std::size_t n_probed = record.states.front().probes.size();
  require(json.at("components").size() == start.size(), "{} components instead of {}", json.at("components").size(),
          start.size());
  each_of_run(record, FromRecord{json});
  take_value(json.at("states"), record.states);
  for (const TransportLine& state : record.states) {
    require(state.components.size() == start.size(), "lines of {} components instead of {}", state.components.size(),
            start.size());
    require(state.probes.size() == n_probed, "{} values at probes instead of {}", state.probes.size(), n_probed);
  }
  record.components.clear();
  for (const Json& c : json.at("components"))
    record.components.push_back({c.at("least"), c.at("largest"), c.at("imbalance"),
                                 SignalMoments(c.at("at_inlet").get<SignalMoments::Sums>()),
                                 SignalMoments(c.at("at_outlet").get<SignalMoments::Sums>())});
}

}  // namespace karst
