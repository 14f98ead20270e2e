// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/standing_solids.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/walls/wall_evolution.hpp"
#include "eb/described_level_set.hpp"
#include "eb/mineral_choice.hpp"
#include "eb/moving/standing_minerals.hpp"

namespace karst {

namespace {

/// Of described solids, their own level sets.
StandingSolids of_solids(GeometryOptions options, const GridOptions& grid, const std::vector<std::string>& names,
                         const std::vector<bool>& stands) {
  const auto number_of = [&](const std::string& mineral) {
    const auto found = std::ranges::find(names, mineral);
    return (found != names.end() ? found : std::ranges::find(names, other_minerals)) - names.begin();
  };
  std::erase_if(options.solids, [&](const SolidOptions& solid) { return !stands[number_of(solid.mineral)]; });
  if (options.solids.empty()) return {};
  options.minerals.clear();  // all of them
  StandingSolids standing{make_described_level_set(options, grid.cell_width(), grid.size, grid.periodic)};
  for (const std::string& mineral : standing.solids->minerals())
    standing.number.push_back(static_cast<MineralNumber>(number_of(mineral)));
  return standing;
}

}  // namespace

StandingSolids standing_solids(const JobContext& run, const LevelSet& whole) {
  const std::vector<std::string> names = whole.minerals();
  const std::vector<MineralMotion> motions = mineral_motions(run);
  std::vector<bool> stands;
  for (const std::string& name : names) {
    const auto motion = std::ranges::find(motions, name, &MineralMotion::name);
    stands.push_back(motion != motions.end() && motion->deck == nullptr);
  }
  if (std::ranges::count(stands, true) == 0) return {};
  const GeometryOptions& options = run.config.geometry;
  if (options.image.empty() && options.operation == SolidOperation::union_of_solids)
    return of_solids(options, run.grid, names, stands);
  std::vector<MineralNumber> number(names.size());
  std::iota(number.begin(), number.end(), MineralNumber{0});
  const double spacing = std::ldexp(1.0, 1 - static_cast<int>(run.geometry().levels.size()));
  return {std::make_unique<StandingMinerals>(whole, std::move(stands), spacing), std::move(number)};
}

}  // namespace karst
