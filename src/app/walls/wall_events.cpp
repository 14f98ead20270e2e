// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/wall_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "eb/moving/component_overlaps.hpp"

namespace karst {

namespace {

constexpr double at_this_time = -1.0;  ///< of what has come loose, until take_pending() knows the time

/// Components of one kind before and after a motion, and who shares volume with whom.
struct Change {
  const std::vector<Component>& before;
  const std::vector<Component>& after;
  std::vector<std::vector<ComponentOverlap>> sources;  ///< of each one after
  std::vector<std::int32_t> successor;                 ///< of each one before, the main one; -1: none
  std::vector<double> size_before, size_after;         ///< the largest volume that each has had

  bool is_main_of(std::size_t after_number, const ComponentOverlap& source) const {
    return successor[source.before] == static_cast<std::int32_t>(after_number);
  }
};

/// Of two that share as much but for round-off, the first.
bool is_more(double a, double b) { return a > b * (1.0 + 1e-9); }

/// @param leads  whether a component is one of those that the others belong to: it is the main one of several
template <class Leads>
Change change_of(const Comm& comm, const Components& before, const Components& after,
                 const std::vector<double>& size_before, Leads&& leads) {
  Change c{before.all, after.all, {}, {}, size_before, {}};
  c.sources.resize(after.all.size());
  c.successor.assign(before.all.size(), -1);
  std::vector<std::int32_t> largest(before.all.size(), -1);  // of the successors: it takes over the size
  std::vector<double> shared(before.all.size(), 0.0), shared_most(before.all.size(), 0.0);
  for (const ComponentOverlap& o : component_overlaps(comm, before, after)) {
    c.sources[o.after].push_back(o);
    if (largest[o.before] < 0 || is_more(o.volume, shared_most[o.before])) {
      largest[o.before] = o.after;
      shared_most[o.before] = o.volume;
    }
    const std::int32_t main = c.successor[o.before];
    const bool led = main >= 0 && leads(after.all[main]), now_leads = leads(after.all[o.after]);
    if (main >= 0 && (led != now_leads ? led : !is_more(o.volume, shared[o.before]))) continue;
    c.successor[o.before] = o.after;
    shared[o.before] = o.volume;
  }
  for (const Component& now : after.all) c.size_after.push_back(now.volume);
  for (std::size_t j = 0; j < before.all.size(); ++j)
    if (largest[j] >= 0) c.size_after[largest[j]] = std::max(c.size_after[largest[j]], size_before[j]);
  return c;
}

/// Takes events of a motion; small ones are only counted.
class Found {
 public:
  Found(double cell_width, WallEvents& events) : h_(cell_width), events_(events) {}
  void path(WallEventKind kind, int axis) { events_.pending.push_back({.kind = static_cast<int>(kind), .axis = axis}); }
  /// @param size  the largest volume that it has had
  void add(WallEventKind kind, const Component& part, double size) {
    if (size < least_listed_volume) {
      ++events_.n_small;
      return;
    }
    events_.pending.push_back(
        {.kind = static_cast<int>(kind), .place = h_ * part.center, .volume = h_ * h_ * h_ * part.volume});
  }

 private:
  double h_;
  WallEvents& events_;
};

/// What pores are open to: ends of the domain along the axes of the flow, without a flow along all.
std::vector<int> axes_of(const Config& config) {
  if (config.flow.model != FlowModel::none) return config.flow.axes;
  if (config.transport.asked()) return {config.transport.axis};
  return {0, 1, 2};
}

void find_pore_events(const Change& pores, const std::vector<int>& axes, Found& found) {
  const auto is_open = [&](const Component& c) {
    return std::ranges::any_of(axes, [&](int axis) { return c.reaches(axis); });
  };
  for (std::size_t i = 0; i < pores.after.size(); ++i) {
    const Component& now = pores.after[i];
    const std::vector<ComponentOverlap>& sources = pores.sources[i];
    const bool open = is_open(now);
    // The source that the others have joined: an open one if there is, and the largest of these.
    const ComponentOverlap* main = nullptr;
    for (const ComponentOverlap& s : sources) {
      const auto better = [&](const Component& a, const Component& b) {
        return is_open(a) != is_open(b) ? is_open(a) : is_more(a.volume, b.volume);
      };
      if (main == nullptr || better(pores.before[s.before], pores.before[main->before])) main = &s;
    }
    if (main == nullptr) continue;  // opened within the solid
    for (const ComponentOverlap& s : sources) {
      const Component& was = pores.before[s.before];
      const double size = pores.size_before[s.before];
      if (!is_open(was) && open)
        found.add(WallEventKind::pore_opened, was, size);
      else if (&s != main && pores.is_main_of(i, s))
        found.add(WallEventKind::pores_joined, was, size);
    }
    const bool was_open = is_open(pores.before[main->before]);
    const bool came_off = std::ranges::none_of(sources, [&](const auto& s) { return pores.is_main_of(i, s); });
    if ((was_open && !open) || came_off) found.add(WallEventKind::pore_cut_off, now, now.volume);
  }
  for (std::size_t j = 0; j < pores.before.size(); ++j)
    if (pores.successor[j] < 0) found.add(WallEventKind::pore_filled, pores.before[j], pores.size_before[j]);
}

/// Updates TopologyMemory::loose_since.
void find_solid_events(const Change& solids, std::span<const std::int32_t> taken, TopologyMemory& memory,
                       Found& found) {
  std::vector<double> loose_since(solids.after.size(), no_number);
  for (std::size_t i = 0; i < solids.after.size(); ++i) {
    const Component& now = solids.after[i];
    const std::vector<ComponentOverlap>& sources = solids.sources[i];
    const ComponentOverlap* largest = nullptr;
    bool was_held = false;
    for (const ComponentOverlap& s : sources) {
      const Component& was = solids.before[s.before];
      was_held = was_held || was.reaches_any();
      if (largest == nullptr || is_more(s.volume, largest->volume)) largest = &s;
      if (now.reaches_any() && !was.reaches_any())
        found.add(WallEventKind::fragment_attached, was, solids.size_before[s.before]);
    }
    if (now.reaches_any() || largest == nullptr) continue;
    const bool came_off = std::ranges::none_of(sources, [&](const auto& s) { return solids.is_main_of(i, s); });
    if (was_held || came_off) found.add(WallEventKind::fragment_loose, now, now.volume);
    loose_since[i] = was_held || came_off ? at_this_time : memory.loose_since[largest->before];
  }
  for (std::size_t j = 0; j < solids.before.size(); ++j)
    if (std::ranges::count(taken, static_cast<std::int32_t>(j)) > 0)
      found.add(WallEventKind::carried_away, solids.before[j], solids.size_before[j]);
    else if (solids.successor[j] < 0)
      found.add(WallEventKind::grain_vanished, solids.before[j], solids.size_before[j]);
  memory.loose_since = std::move(loose_since);
}

}  // namespace

WallEvents begin_wall_events(const Geometry& geometry) {
  WallEvents events;
  if (!geometry.topology) return events;
  for (const Component& c : geometry.topology->pores.all) events.memory.pores.push_back(c.volume);
  for (const Component& c : geometry.topology->solids.all) events.memory.solids.push_back(c.volume);
  events.memory.loose_since.assign(events.memory.solids.size(), no_number);
  return events;
}

void add_wall_events(const JobContext& run, const Ground& before, WallEvents& events,
                     std::span<const std::int32_t> taken) {
  const Timer timer("pores and fragments");
  const Geometry &was = before.geometry(), &is = run.geometry();
  if (!was.topology || !is.topology) return;
  Found found(run.grid.cell_width(), events);
  const std::vector<int> axes = axes_of(run.config);
  for (const int axis : axes) {
    const bool led = was.report.percolates[axis], leads = is.report.percolates[axis];
    if (led != leads) found.path(led ? WallEventKind::path_lost : WallEventKind::path_gained, axis);
  }
  const auto is_open = [&](const Component& c) {
    return std::ranges::any_of(axes, [&](int axis) { return c.reaches(axis); });
  };
  const auto is_held = [](const Component& c) { return c.reaches_any(); };
  TopologyMemory& memory = events.memory;
  require(
      memory.pores.size() == was.topology->pores.all.size() && memory.solids.size() == was.topology->solids.all.size(),
      "walls: {} pores and {} solids are remembered of {} and {}", memory.pores.size(), memory.solids.size(),
      was.topology->pores.all.size(), was.topology->solids.all.size());
  const Change pores = change_of(run.comm, was.topology->pores, is.topology->pores, memory.pores, is_open);
  find_pore_events(pores, axes, found);
  const Change solids = change_of(run.comm, was.topology->solids, is.topology->solids, memory.solids, is_held);
  find_solid_events(solids, taken, memory, found);
  memory.pores = pores.size_after;
  memory.solids = solids.size_after;
}

std::vector<std::int32_t> just_loose(const WallEvents& events, const Geometry& geometry) {
  std::vector<std::int32_t> found;
  const std::vector<double>& since = events.memory.loose_since;
  for (std::size_t i = 0; i < since.size(); ++i)
    if (since[i] == at_this_time && geometry.topology->solids.all[i].volume >= least_listed_volume)
      found.push_back(static_cast<std::int32_t>(i));
  return found;
}

std::vector<WallEvent> take_pending(double time, WallEvents& events) {
  for (double& since : events.memory.loose_since)
    if (since == at_this_time) since = time;
  std::vector<WallEvent> now = std::exchange(events.pending, {});
  for (WallEvent& event : now) {
    event.time = time;
    ++events.n[event.kind];
  }
  std::ranges::copy(now, std::back_inserter(events.largest));
  if (events.largest.size() > most_listed_events) {
    // Those without a volume concern the whole sample and stay.
    const auto size = [](const WallEvent& e) {
      return std::isnan(e.volume) ? std::numeric_limits<double>::infinity() : e.volume;
    };
    std::ranges::stable_sort(events.largest, [&](const WallEvent& a, const WallEvent& b) { return size(a) > size(b); });
    events.largest.resize(most_listed_events);
    std::ranges::stable_sort(events.largest, {}, &WallEvent::time);
  }
  return now;
}

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

const KindWords& words_of(int kind) { return words[kind]; }

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
