// SPDX-License-Identifier: BSD-3-Clause
// What checkpoints hold of events.
#include "app/walls/wall_events.hpp"

namespace karst {

namespace {

Json records_of(const std::vector<WallEvent>& events) {
  Json list = Json::array();
  for (const WallEvent& event : events) {
    Json& json = list.push_back(Json::object());
    each_quantity(event, ToJson{json, shown::record});
  }
  return list;
}

std::vector<WallEvent> events_of_records(const Json& list) {
  std::vector<WallEvent> events;
  for (const Json& json : list) each_quantity(events.emplace_back(), FromRecord{json});
  return events;
}

}  // namespace

Json wall_events_json(const WallEvents& events) {
  return {{"pores", events.memory.pores},
          {"solids", events.memory.solids},
          {"loose_since", events.memory.loose_since},
          {"pending", records_of(events.pending)},
          {"largest", records_of(events.largest)},
          {"n", events.n},
          {"n_small", events.n_small}};
}

WallEvents wall_events_of(const Json& json) {
  WallEvents events;
  take_value(json.at("pores"), events.memory.pores);
  take_value(json.at("solids"), events.memory.solids);
  take_value(json.at("loose_since"), events.memory.loose_since);
  events.pending = events_of_records(json.at("pending"));
  events.largest = events_of_records(json.at("largest"));
  events.n = json.at("n").get<decltype(events.n)>();
  events.n_small = json.at("n_small");
  return events;
}

}  // namespace karst
