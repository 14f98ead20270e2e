// SPDX-License-Identifier: BSD-3-Clause
// Job `walls`: walls that move between steady states of flow and transport, and what becomes of the pore space.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/job/job.hpp"
#include "app/walls/wall_evolution.hpp"
#include "eb/moving/moved_level_set.hpp"

namespace karst {

struct Evolution {
  std::vector<MineralMotion> minerals;
  std::vector<EvolutionLine> states;  ///< at 0, after each step or, of long runs, every `stride`th, and the last one
  std::int64_t steps = 0, stride = 1;
  std::string ended_by{};  ///< why before time.end; empty: it was not
  bool as_asked = false;   ///< by walls.until
};

/// The line of one more step.
void add_step(EvolutionLine line, Evolution& evolution);

inline constexpr const char* walls_process = "walls";  ///< name in checkpoints
inline constexpr const char* wall_events_item = "wall_events";
inline constexpr const char* ended_item = "ended_by";  ///< in a state: why no step follows
inline constexpr const char* no_path = "no pore percolates any more along the axes of the flow";
inline constexpr const char* evolution_csv = "evolution.csv";
std::string evolution_header(const Evolution& evolution);
std::string evolution_line(const Evolution& evolution, const EvolutionLine& line);
/// @param more  rows, label and value
std::string evolution_text(const Evolution& evolution,
                           const std::vector<std::pair<std::string, std::string>>& more = {});
std::string evolution_headline(const Evolution& evolution);
/// What a user has to know of the motion. Not collective.
std::vector<std::string> evolution_warnings(const JobContext& run, const Evolution& evolution);
/// Member walls of summary.json.
Json evolution_json(const Evolution& evolution);

/// See Job.
std::vector<std::string> walls_mistakes(const JobContext& context);
PagePart walls_page(const Json& summary, const Figures& figures);

/// Those of minerals that no [[walls.mineral]] names: of a described union of solids themselves, else, as of an image,
/// to a cell where they touch other minerals (StandingMinerals). Not collective.
/// @param run    with the first geometry
/// @param whole  its level set; must outlive the result
StandingSolids standing_solids(const JobContext& run, const LevelSet& whole);

}  // namespace karst
