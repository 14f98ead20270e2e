// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_past.hpp"

#include <utility>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

Json list_json(const std::vector<double>& values) {
  Json all = Json::array();
  for (const double x : values) all.push_back(number_or_null(x));
  return all;
}
std::vector<double> list_of(const Json& json) {
  std::vector<double> all;
  for (const Json& x : json) all.push_back(number_or_nan(x));
  return all;
}

/// Calls f with each number, and g with each list of numbers.
template <class Line, class F, class G>
void for_numbers(Line& l, F&& f, G&& g) {
  for (auto* x : {&l.time, &l.pore_volumes, &l.charge, &l.charge_imbalance, &l.outlet.ph, &l.mean.ph}) f(*x);
  for (auto* x : {&l.content, &l.sorbed, &l.imbalance, &l.outlet.saturation, &l.mean.saturation}) g(*x);
}

Json line_json(const ReactiveLine& line) {
  Json json{{"numbers", Json::array()}, {"lists", Json::array()}, {"minerals", Json::array()}};
  for_numbers(
      line, [&](double x) { json["numbers"].push_back(number_or_null(x)); },
      [&](const std::vector<double>& x) { json["lists"].push_back(list_json(x)); });
  for (const MineralLine& m : line.minerals)
    json["minerals"].push_back(list_json({m.rate, m.well_mixed, m.dissolved, m.time_error}));
  json["counts"] = {line.solved, line.kept, line.speciations};
  return json;
}

ReactiveLine line_of(const Json& json) {
  ReactiveLine line;
  std::size_t i = 0, k = 0;
  for_numbers(
      line, [&](double& x) { x = number_or_nan(json.at("numbers").at(i++)); },
      [&](std::vector<double>& x) { x = list_of(json.at("lists").at(k++)); });
  for (const Json& m : json.at("minerals"))
    line.minerals.push_back(
        {number_or_nan(m.at(0)), number_or_nan(m.at(1)), number_or_nan(m.at(2)), number_or_nan(m.at(3))});
  line.solved = json.at("counts").at(0);
  line.kept = json.at("counts").at(1);
  line.speciations = json.at("counts").at(2);
  return line;
}

/// What the next search begins with; all else follows.
Json start_json(const Speciation& s) {
  return {{"ln_m", list_json(s.basis)}, {"strength", s.ionic_strength}, {"ln_water", s.ln_water}};
}
void take_start(const Json& json, Speciation& s) {
  std::vector<double> ln_m = list_of(json.at("ln_m"));
  require(ln_m.size() == s.basis.size(), "{} elements in place of {}", ln_m.size(), s.basis.size());
  s.basis = std::move(ln_m);
  s.ionic_strength = json.at("strength");
  s.ln_water = json.at("ln_water");
}

Json picture_json(const ReactivePicture& picture) {
  Json json{{"time", picture.time}, {"planes", Json::array()}};
  for (const PlaneValues& p : picture.planes)
    json["planes"].push_back(
        {{"direction", p.direction}, {"plane", p.plane}, {"nx", p.nx}, {"ny", p.ny}, {"values", list_json(p.values)}});
  return json;
}

ReactivePicture picture_of(const Json& json) {
  ReactivePicture picture{json.at("time"), {}};
  for (const Json& p : json.at("planes"))
    picture.planes.push_back({p.at("direction"), p.at("plane"), p.at("nx"), p.at("ny"), list_of(p.at("values"))});
  return picture;
}

}  // namespace

std::string past_json(const ReactivePast& past) {
  Json json{{"line", line_json(past.line)},
            {"worst", line_json(past.worst)},
            {"mean", start_json(past.mean)},
            {"outlet", start_json(past.outlet)},
            {"longest", past.longest},
            {"dt", past.dt},
            {"counts", {past.counts.steps, past.counts.iterations, past.counts.from_zero, past.counts.in_turn}},
            {"history", Json::array()},
            {"pictures", Json::array()}};
  for (const ReactiveLine& line : past.history) json["history"].push_back(line_json(line));
  for (const ReactivePicture& picture : past.pictures) json["pictures"].push_back(picture_json(picture));
  return json.dump();
}

void take_past(const std::string& text, ReactivePast& past) {
  const Json json = Json::parse(text);
  ReactiveLine line = line_of(json.at("line"));
  require(line.minerals.size() == past.line.minerals.size(), "{} minerals in place of {}", line.minerals.size(),
          past.line.minerals.size());
  require(json.at("dt").size() == past.dt.size(), "{} places of minerals in place of {}", json.at("dt").size(),
          past.dt.size());
  take_start(json.at("mean"), past.mean);
  take_start(json.at("outlet"), past.outlet);
  past.line = std::move(line);
  past.worst = line_of(json.at("worst"));
  past.longest = json.at("longest");
  past.dt = json.at("dt").get<std::vector<double>>();
  const Json& counts = json.at("counts");
  past.counts = {counts.at(0), counts.at(1), counts.at(2), counts.at(3)};
  past.history.clear();
  for (const Json& l : json.at("history")) past.history.push_back(line_of(l));
  past.pictures.clear();
  for (const Json& picture : json.at("pictures")) past.pictures.push_back(picture_of(picture));
}

}  // namespace karst
