// SPDX-License-Identifier: BSD-3-Clause
#include "io/state_file.hpp"

#include <algorithm>
#include <array>

#include "base/core/error.hpp"

namespace karst {

namespace {

constexpr std::array<const char*, 6> kinds{"content", "amount", "point value", "face flux", "on wall", "memory"};

ItemKind kind_of(const std::string& name) {
  const auto at = std::ranges::find(kinds, name);
  require(at != kinds.end(), "an item of the state is of no known kind: {}", name);
  return static_cast<ItemKind>(at - kinds.begin());
}

VofPlaces places_of(const VofSet& set, const Geometry& geometry) {
  VofPlaces places;
  std::vector<std::int64_t> first;  // place of the first VoF of a level
  std::int64_t n = 0;
  for (const LevelGeometry& level : geometry.levels) {
    places.levels.push_back(&level.graph);
    first.push_back(n);
    n += level.graph.slots()->vof_begin.back();
  }
  std::vector<std::int32_t> row;
  if (!set.all) {
    row.assign(n, -1);
    for (std::size_t i = 0; i < set.vofs.size(); ++i) row[set.vofs[i]] = static_cast<std::int32_t>(i);
  }
  places.row = [levels = places.levels, first = std::move(first), row = std::move(row), all = set.all](
                   int level, int box, int vof) -> std::int64_t {
    const std::int64_t place = first[level] + levels[level]->slots()->vof_begin[box] + vof;
    return all ? place : row[place];
  };
  return places;
}

template <class T>
void read_item(const VofFile& file, const std::string& table, const VofPlaces& places, std::int64_t rows,
               StateItem item, State& state) {
  Array<T> values(rows * item.components, Purpose::buffers);
  file.read(table, item.name, places, item.components, values.span());
  add_owned(state, std::move(item), std::move(values));
}

}  // namespace

std::vector<VofTable> tables_of(const State& state, const Geometry& geometry, const std::string& prefix) {
  std::vector<VofTable> tables;
  for (const VofSet& set : state.sets) {
    VofTable& table = tables.emplace_back(VofTable{prefix + ' ' + set.name, places_of(set, geometry), {}});
    for (const StateItem& item : state.items)
      if (item.set == set.name) table.values.push_back({item.name, item.components, item.values});
  }
  return tables;
}

Json description_of(const State& state) {
  Json json{{"numbers", state.numbers}, {"sets", Json::array()}, {"items", Json::array()}};
  for (const VofSet& set : state.sets) json["sets"].push_back(set.name);
  for (const StateItem& item : state.items)
    json["items"].push_back({{"name", item.name},
                             {"set", item.set},
                             {"unit", item.unit},
                             {"kind", kinds.at(static_cast<std::size_t>(item.kind))},
                             {"components", item.components},
                             {"single", item.values.index() == 1}});
  return json;
}

State read_state(const VofFile& file, const Json& description, const Geometry& geometry, const std::string& prefix) {
  State state{.numbers = description.at("numbers")};
  std::vector<const LevelGraph*> levels;
  for (const LevelGeometry& level : geometry.levels) levels.push_back(&level.graph);
  for (const Json& name : description.at("sets")) {
    VofSet set{.name = name};
    const std::string table = prefix + ' ' + set.name;
    set.vofs = file.vofs_in(table, levels);
    set.size = std::ssize(set.vofs);
    set.all = set.size == all_vofs(geometry).size;
    if (set.all) set.vofs.clear();
    const VofPlaces places = places_of(set, geometry);
    for (const Json& json : description.at("items")) {
      if (std::string(json.at("set")) != set.name) continue;
      StateItem item{json.at("name"), json.at("unit"), kind_of(json.at("kind")), json.at("components"), set.name, {}};
      if (json.at("single"))
        read_item<float>(file, table, places, set.size, std::move(item), state);
      else
        read_item<double>(file, table, places, set.size, std::move(item), state);
    }
    state.sets.push_back(std::move(set));
  }
  return state;
}

}  // namespace karst
