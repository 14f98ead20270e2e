// SPDX-License-Identifier: BSD-3-Clause
// What becomes of pores and solids while walls move: pores that are cut off, joined, opened to the flow or filled, axes
// of the flow along which a pore leads no more, grains that vanish, fragments of solid that come loose. Each motion of
// the walls compares the components of two geometries (eb/moving/component_overlaps.hpp).
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/job/job.hpp"
#include "app/output/quantity.hpp"
#include "base/math/no_number.hpp"

namespace karst {

enum class WallEventKind : std::uint8_t {
  pore_cut_off,       ///< fluid that led to inlet or outlet, or belonged to a larger pore
  pores_joined,       ///< the smaller of two that are now one
  pore_opened,        ///< one that was closed leads to inlet or outlet
  pore_filled,        ///< a pore that is gone
  path_lost,          ///< no pore leads any more along an axis of the flow
  path_gained,        ///< one does again
  fragment_loose,     ///< solid that reaches no side of the domain any more, or has come off a larger one that did not
  fragment_attached,  ///< loose solid that has grown together with what reaches a side
  grain_vanished,     ///< solid that is gone
  carried_away,       ///< a fragment that has been removed (walls.fragments)
};
constexpr std::size_t n_wall_event_kinds = 10;
constexpr double least_listed_volume = 1.0;     ///< of a part whose events are listed, others are counted [h0³]
constexpr std::size_t most_listed_events = 40;  ///< and fragments, in summary.json

/// SI units.
struct WallEvent {
  int kind = 0;   ///< a WallEventKind
  int axis = -1;  ///< of a path
  double time = 0.0;
  Vec3 place = Vec3::all(no_number);  ///< centre of the smaller part that the event is about
  double volume = no_number;          ///< of this part
  double pore_volumes = 0.0;          ///< that have flowed in, for its line of wall_events.csv; NaN without flow

  friend bool operator==(const WallEvent&, const WallEvent&) = default;
};
/// "pore cut off", "path along x lost".
std::string what_happened(const WallEvent& event);

/// Columns of wall_events.csv.
void each_quantity(Of<WallEvent> auto& e, auto&& f) {
  using namespace shown;
  f(Quantity{"time", "s", csv | json | record, "{:.12g}"}, e.time);
  f(Quantity{"what", "", csv | json}, what_happened(e));
  f(Quantity{"kind"}, e.kind);
  f(Quantity{"axis"}, e.axis);
  f(Quantity{"x", "m", csv, "{:.5g}"}, double{e.place[0]});
  f(Quantity{"y", "m", csv, "{:.5g}"}, double{e.place[1]});
  f(Quantity{"z", "m", csv, "{:.5g}"}, double{e.place[2]});
  f(Quantity{"position", "m", json | record}, e.place);
  f(Quantity{"volume", "m3", csv | json | record, "{:.5g}"}, e.volume);
  f(Quantity{"pore_volumes", "", csv}, double{e.pore_volumes});
}

/// What is remembered of the components of the geometry of now, by their numbers [h0³, s].
struct TopologyMemory {
  std::vector<double> pores, solids;  ///< the largest volume that each has had
  std::vector<double> loose_since;    ///< of solids; no_number: they are not, or were from the beginning
};

/// Events so far.
struct WallEvents {
  TopologyMemory memory;
  std::vector<WallEvent> pending;                    ///< of the last motion, whose time is not known yet
  std::vector<WallEvent> largest;                    ///< some, in the order of time
  std::array<std::int64_t, n_wall_event_kinds> n{};  ///< of each kind
  std::int64_t n_small = 0;                          ///< of parts that were never as large as a cell: only counted
};

/// What checkpoints hold of them.
void each_quantity(Of<WallEvents> auto& e, auto&& f) {
  f(Quantity{"pores"}, e.memory.pores);
  f(Quantity{"solids"}, e.memory.solids);
  f(Quantity{"loose_since"}, e.memory.loose_since);
  f(Quantity{"pending"}, e.pending);
  f(Quantity{"largest"}, e.largest);
  f(Quantity{"n"}, e.n);
  f(Quantity{"n_small"}, e.n_small);
}

inline constexpr const char* wall_events_csv = "wall_events.csv";

/// At the beginning; nothing without Geometry::topology.
WallEvents begin_wall_events(const Geometry& geometry);
/// A motion, from the ground before to that of the run: more events are pending. Collective.
/// @param taken  numbers of solids before that were taken away
void add_wall_events(const JobContext& run, const Ground& before, WallEvents& events,
                     std::span<const std::int32_t> taken = {});
/// Numbers of the solids that came loose in the last motion and are listed.
std::vector<std::int32_t> just_loose(const WallEvents& events, const Geometry& geometry);
/// What is pending has happened at this time [s]. Not collective.
std::vector<WallEvent> take_pending(double time, WallEvents& events);

/// Solids that reach no side of the domain, at least as large as a cell.
struct LooseSolids {
  std::int64_t n = 0;
  double volume = 0.0;  ///< [h0³]
};
LooseSolids loose_solids(const Geometry& geometry);

/// Members `events` and `fragments` of summary.json.
void add_to_summary(const WallEvents& events, const Geometry& geometry, double cell_width, Json& walls);
/// Rows of text: label and value.
std::vector<std::pair<std::string, std::string>> wall_events_rows(const WallEvents& events);

}  // namespace karst
