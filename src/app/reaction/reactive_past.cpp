// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_past.hpp"

#include <utility>

#include "app/reaction/reactive_quantities.hpp"
#include "base/core/error.hpp"

namespace karst {

namespace {

/// Calls f with each list of numbers.
template <class Line, class F>
void for_lists(Line& l, F&& f) {
  for (auto* x :
       {&l.content, &l.sorbed, &l.imbalance, &l.outlet.saturation, &l.mean.saturation, &l.probes, &l.ledger.in,
        &l.ledger.out, &l.ledger.released, &l.ledger.by_walls, &l.ledger.start, &l.ledger.inflow})
    f(*x);
}

Json line_json(const ReactiveLine& line) {
  Json json{{"lists", Json::array()}, {"minerals", Json::array()}};
  const ToJson record{json, shown::record};
  each_of_time(line, record);
  each_of_water(line, record);
  each_of_step(line, record);
  for_lists(line, [&](const std::vector<double>& x) { json["lists"].push_back(x); });
  for (std::size_t m = 0; m < line.minerals.size(); ++m)
    each_of_mineral(line, m, ToJson{json["minerals"].push_back({}), shown::record});
  return json;
}

ReactiveLine line_of(const Json& json) {
  ReactiveLine line;
  std::size_t i = 0;
  for_lists(line, [&](std::vector<double>& x) { take_value(json.at("lists").at(i++), x); });
  const FromRecord record{json};
  each_of_time(line, record);
  each_of_water(line, record);
  each_of_step(line, record);
  line.minerals.resize(json.at("minerals").size());
  for (std::size_t m = 0; m < line.minerals.size(); ++m)
    each_of_mineral(line, m, FromRecord{json.at("minerals").at(m)});
  return line;
}

/// What the next search begins with; all else follows.
Json start_json(const Speciation& s) {
  return {{"ln_m", s.basis}, {"strength", s.ionic_strength}, {"ln_water", s.ln_water}};
}
void take_start(const Json& json, Speciation& s) {
  const Json& ln_m = json.at("ln_m");
  require(ln_m.size() == s.basis.size(), "{} elements instead of {}", ln_m.size(), s.basis.size());
  take_value(ln_m, s.basis);
  s.ionic_strength = json.at("strength");
  s.ln_water = json.at("ln_water");
}

Json picture_json(const ReactivePicture& picture) {
  Json json{{"time", picture.time}, {"planes", Json::array()}};
  for (const PlaneValues& p : picture.planes)
    json["planes"].push_back({{"direction", p.direction},
                              {"plane", p.plane},
                              {"nx", p.nx},
                              {"ny", p.ny},
                              {"values", p.values},
                              {"fluid", p.fluid}});
  return json;
}

ReactivePicture picture_of(const Json& json) {
  ReactivePicture picture{json.at("time"), {}};
  for (const Json& p : json.at("planes")) {
    picture.planes.push_back({p.at("direction"), p.at("plane"), p.at("nx"), p.at("ny"), {}});
    take_value(p.at("values"), picture.planes.back().values);
    take_value(p.at("fluid"), picture.planes.back().fluid);
  }
  return picture;
}

/// Calls f(what is kept, its copy).
template <class Past, class Before, class F>
void for_copies(Past& past, Before& before, F&& f) {
  f(past.line, before.line);
  f(past.worst, before.worst);
  f(past.mean, before.mean);
  f(past.outlet, before.outlet);
  f(past.longest, before.longest);
  f(past.passed, before.passed);
  f(past.provisional, before.provisional);
}

}  // namespace

void keep_past(const ReactivePast& past, PastBefore& before) {
  for_copies(past, before, [](const auto& from, auto& to) { to = from; });
  before.n_history = past.history.size();
}

void give_past_back(const PastBefore& before, ReactivePast& past) {
  for_copies(past, before, [](auto& to, const auto& from) { to = from; });
  past.history.resize(before.n_history);
}

Json past_json(const ReactivePast& past) {
  Json json{{"line", line_json(past.line)},      {"worst", line_json(past.worst)}, {"mean", start_json(past.mean)},
            {"outlet", start_json(past.outlet)}, {"longest", past.longest},        {"passed", past.passed},
            {"provisional", past.provisional},   {"history", Json::array()},       {"pictures", Json::array()}};
  for (const ReactiveLine& line : past.history) json["history"].push_back(line_json(line));
  for (const ReactivePicture& picture : past.pictures) json["pictures"].push_back(picture_json(picture));
  return json;
}

void take_past(const Json& json, ReactivePast& past) {
  ReactiveLine line = line_of(json.at("line"));
  require(line.minerals.size() == past.line.minerals.size(), "{} minerals instead of {}", line.minerals.size(),
          past.line.minerals.size());
  require(line.probes.size() == past.line.probes.size(), "{} values at probes instead of {}", line.probes.size(),
          past.line.probes.size());
  take_start(json.at("mean"), past.mean);
  take_start(json.at("outlet"), past.outlet);
  past.line = std::move(line);
  past.worst = line_of(json.at("worst"));
  past.longest = json.at("longest");
  past.passed = json.at("passed");
  take_value(json.at("provisional"), past.provisional);
  past.history.clear();
  for (const Json& l : json.at("history")) past.history.push_back(line_of(l));
  past.pictures.clear();
  for (const Json& picture : json.at("pictures")) past.pictures.push_back(picture_of(picture));
}

}  // namespace karst
