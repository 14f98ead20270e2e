// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/standing_solids.hpp"

#include <algorithm>

#include "app/walls/wall_evolution.hpp"
#include "eb/described_level_set.hpp"
#include "eb/mineral_choice.hpp"

namespace karst {

StandingSolids standing_solids(const JobContext& run, const LevelSet& whole) {
  GeometryOptions options = run.config.geometry;
  if (options.solids.empty() || !options.image.empty() || options.operation != SolidOperation::union_of_solids)
    return {};
  const std::vector<MineralMotion> motions = mineral_motions(run);
  const auto distinguished = [&](const std::string& mineral) {
    return std::ranges::count(motions, mineral, &MineralMotion::name) > 0 ? mineral : std::string(other_minerals);
  };
  std::erase_if(options.solids, [&](const SolidOptions& solid) {
    const auto motion = std::ranges::find(motions, distinguished(solid.mineral), &MineralMotion::name);
    return motion == motions.end() || motion->deck != nullptr;
  });
  if (options.solids.empty()) return {};
  options.minerals.clear();  // all of them
  const GridOptions& grid = run.grid;
  StandingSolids standing{make_described_level_set(options, grid.cell_width(), grid.size, grid.periodic)};
  const std::vector<std::string> names = whole.minerals();
  for (const std::string& mineral : standing.solids->minerals())
    standing.number.push_back(
        static_cast<MineralNumber>(std::ranges::find(names, distinguished(mineral)) - names.begin()));
  return standing;
}

}  // namespace karst
