// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/walls_job.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/walls/wall_evolution.hpp"
#include "app/walls/walls_process.hpp"
#include "base/core/text.hpp"
#include "eb/described_level_set.hpp"
#include "eb/mineral_choice.hpp"
#include "eb/moving/standing_minerals.hpp"

namespace karst {

namespace {

/// Transport in time drives the walls; otherwise steady states do.
bool are_in_time(const Config& config) { return config.transport.asked() && !config.transport.steady(); }

JobPlan plan(const Config& config, const GridOptions& grid) {
  return config.flow.model != FlowModel::none ? flow_job().cost.plan(config_of_step(config), grid)
                                              : transport_job().cost.plan(config, grid);
}

}  // namespace

std::vector<std::string> walls_mistakes(const JobContext& context) {
  Messages found;
  std::vector<std::string> names;
  for (const MineralWall& m : context.geometry().report.minerals) names.push_back(m.name);
  const std::vector<MovingMineral>& deck = context.config.walls.minerals;
  for (std::size_t i = 0; i < deck.size(); ++i)
    if (!deck[i].name.empty() && std::ranges::count(names, deck[i].name) == 0)
      found.add("walls.mineral[{}].name: \"{}\" is no mineral of the geometry; expected one of: {}", i, deck[i].name,
                join(names, ", "));
  if (context.config.walls.fragments == LooseSolid::remove && found.empty())
    for (const MineralMotion& motion : mineral_motions(context))
      if (!motion.moves())
        found.add(
            "walls.fragments: \"remove\" needs all minerals to move, and the walls of {} stand; expected: \"keep\", or "
            "a [[walls.mineral]] for it",
            motion.name);
  const std::vector<MineralDeck>& minerals = context.config.chemistry.minerals;
  for (std::size_t i = 0; i < minerals.size(); ++i)
    if (minerals[i].deposit && std::ranges::count(names, minerals[i].options.name) > 0)
      found.add(
          "chemistry.mineral[{}].name: \"{}\" is a mineral of the geometry, too; choose another name for the deposit",
          i, minerals[i].options.name);
  if (const WallsDeck& walls = context.config.walls; walls.until.of == WallsEnd::Of::porosity)
    if (std::string met = met_at_once(walls.until, walls.until_text, context.geometry().report.porosity); !met.empty())
      found.push_back(std::move(met));
  if (context.config.flow.model != FlowModel::none && !flow_percolates(context))
    found.push_back("walls: no pore percolates along the axes of the flow (flow.axes)");
  return found;
}

Job walls_job() {
  return {.word = job_word("walls"),
          .mistakes = walls_mistakes,
          .start =
              [](const JobContext& context) {
                return are_in_time(context.config) ? start_walls_in_time(context) : start_quasi_steady_walls(context);
              },
          .page = walls_page,
          .cost = {.plan = plan,
                   .irregular_setup = flow_job().cost.irregular_setup,
                   .trial = flow_job().cost.trial,
                   .usual_pace = flow_job().cost.usual_pace,
                   .n_fields =
                       [](const Config& config, PlotField field) {
                         for (const Job& job : {flow_job(), transport_job()})
                           if (job_of(field) == job.word.name) return job.cost.n_fields(config, field);
                         return 0;
                       }},
          .in_time = [](const Config&) { return true; },
          .takes =
              [](const Config& config) {
                return are_in_time(config) ? std::vector{ExchangeName::wall_rates} : std::vector<ExchangeName>();
              },
          .does =
              [](const Config& config) {
                return are_in_time(config) ? std::vector<std::string_view>{"flow"}
                                           : std::vector<std::string_view>{"flow", "transport"};
              }};
}

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
