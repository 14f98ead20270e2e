// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "app/walls/wall_events.hpp"

namespace karst {

namespace {

struct KindWords {
  const char* what;   ///< in a line; {}: the axis
  const char* count;  ///< in summary.json
  const char* label;  ///< of a row of text
};
constexpr std::array<KindWords, n_wall_event_kinds> words{
    {{"pore cut off", "pores_cut_off", "pores cut off"},
     {"pores joined", "pores_joined", "pores joined"},
     {"pore opened", "pores_opened", "pores opened to the flow"},
     {"pore filled", "pores_filled", "pores filled"},
     {"path along {} lost", "paths_lost", "axes that no pore leads along any more"},
     {"path along {} gained", "paths_gained", "axes that a pore leads along again"},
     {"fragment loose", "fragments_loose", "fragments of solid that came loose"},
     {"fragment attached", "fragments_attached", "loose fragments that grew on"},
     {"grain vanished", "grains_vanished", "grains that vanished"},
     {"fragment carried away", "fragments_carried_away", "fragments that were carried away"}}};

const KindWords& words_of(int kind) { return words[static_cast<std::size_t>(kind)]; }

/// Loose solids as large as a cell, the largest first.
std::vector<std::size_t> listed_fragments(const std::vector<Component>& solids) {
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < solids.size(); ++i)
    if (!solids[i].reaches_any() && solids[i].volume >= least_listed_volume) listed.push_back(i);
  std::ranges::stable_sort(listed, std::ranges::greater(), [&](std::size_t i) { return solids[i].volume; });
  if (listed.size() > most_listed_events) listed.resize(most_listed_events);
  return listed;
}

}  // namespace

std::string what_happened(const WallEvent& event) {
  return fmt::format(fmt::runtime(words_of(event.kind).what), event.axis < 0 ? "" : axis_names[event.axis]);
}

LooseSolids loose_solids(const Geometry& geometry) {
  LooseSolids loose;
  if (!geometry.topology) return loose;
  for (const Component& c : geometry.topology->solids.all)
    if (!c.reaches_any() && c.volume >= least_listed_volume) {
      ++loose.n;
      loose.volume += c.volume;
    }
  return loose;
}

void add_to_summary(const WallEvents& events, const Geometry& geometry, double cell_width, Json& walls) {
  Json& counts = walls["events"] = Json::object();
  for (std::size_t i = 0; i < n_wall_event_kinds; ++i) counts[words[i].count] = events.n[i];
  counts["of_parts_below_a_cell"] = events.n_small;
  counts["largest"] = json_of(events.largest, shown::json);
  Json& fragments = walls["fragments"] = Json::array();
  if (!geometry.topology) return;
  const std::vector<Component>& solids = geometry.topology->solids.all;
  for (const std::size_t i : listed_fragments(solids))
    fragments.push_back({{"volume_m3", cell_width * cell_width * cell_width * solids[i].volume},
                         {"position_m", Json(cell_width * solids[i].center)},
                         {"loose_since_s", events.memory.loose_since[i]}});
}

std::vector<std::pair<std::string, std::string>> wall_events_rows(const WallEvents& events) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < n_wall_event_kinds; ++i)
    if (events.n[i] > 0) rows.emplace_back(words[i].label, std::to_string(events.n[i]));
  return rows;
}

}  // namespace karst
