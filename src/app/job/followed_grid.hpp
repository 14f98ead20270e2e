// SPDX-License-Identifier: BSD-3-Clause
// What a grid that follows the solution was like in a run, its steps before a checkpoint included.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/file/json.hpp"
#include "eb/geometry.hpp"

namespace karst {

/// Unknowns of a component: VoFs that no finer level covers.
inline std::int64_t unknowns_of(const GeometryReport& report) {
  std::int64_t n = 0;
  for (const LevelReport& level : report.levels) n += level.vofs_composite;
  return n;
}

struct FollowedGrid {
  std::int64_t changes = 0;
  double seconds = 0.0;  ///< in them, of the slowest rank
  std::int64_t steps = 0, most = 0;
  double unknown_steps = 0.0;  ///< Σ over steps of the unknowns

  void add_step(std::int64_t unknowns) {
    ++steps;
    most = std::max(most, unknowns);
    unknown_steps += static_cast<double>(unknowns);
  }
  double mean() const { return steps > 0 ? unknown_steps / static_cast<double>(steps) : 0.0; }
  /// For summary.json; null: the grid followed nothing.
  Json json() const {
    if (steps == 0) return {};
    return {{"changes", changes}, {"seconds", seconds}, {"unknowns_mean", mean()}, {"unknowns_most", most}};
  }
  /// For a checkpoint, and back.
  Json state() const { return Json::array({changes, seconds, steps, most, unknown_steps}); }
  static FollowedGrid of_state(const Json& json) {
    if (!json.is_array()) return {};
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
  }
};

}  // namespace karst
