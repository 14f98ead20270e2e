// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/move_walls.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/deck/plot_words.hpp"
#include "app/job/moving_walls.hpp"
#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/run/change_ground.hpp"
#include "app/walls/wall_evolution.hpp"
#include "app/walls/walls_process.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/file/log.hpp"
#include "eb/moving/solids_taken.hpp"
#include "transport/regrid/values_on_other_grid.hpp"
#include "transport/regrid/values_on_other_walls.hpp"

namespace karst {

namespace {

/// Where fluid appears that had no neighbour: it has what the walls around it leave, which nobody knows.
constexpr double value_of_new_fragments = 0.0;

/// From a ground to that of now: walls move on the boxes that there are, and then the grid gets those that its rules
/// ask for around the walls.
struct GroundChange {
  WallChange walls;
  std::optional<GridChange> boxes;  ///< none: the same
  const ScalarGrid& now() const { return boxes ? boxes->to : walls.to; }
};

/// Rules that look for walls ask for other boxes where walls have moved.
bool looks_for_walls(const GridOptions& grid) {
  return std::ranges::any_of(grid.refine, [](const Refinement& r) {
    return r.where == Refinement::Where::wall || r.where == Refinement::Where::throat;
  });
}

/// Collective.
GroundChange compare_grounds(const JobContext& context, const Ground& before) {
  if (!looks_for_walls(context.grid) || same_boxes(before.geometry(), context.geometry()))
    return {compare_walls(before.composite(), context.ground->composite()), {}};
  GridOptions as_before = with_flagged(context.grid, refined_boxes(before.geometry().grid));
  as_before.refine.clear();
  const std::shared_ptr<const Ground> between = context.make_ground(as_before, costs_at_start(context.config.run));
  return {compare_walls(before.composite(), between->composite()),
          compare_grids(between->composite(), context.ground->composite())};
}

State transport_on_moved_walls(GroundChange& change, const Checkpoint::Part& part, const Exchanges& exchanges) {
  std::vector<ItemOnOtherWalls> items;
  const auto at_walls = [&](const StateItem& item, int) {
    for (const auto& [component, values] : exchanges.at_walls)
      if (concentration_name(component) == item.name) return values;
    return std::vector<double>();
  };
  State moved = state_on_other_walls(
      change.walls, part.state, [](const StateItem&, int) { return value_of_new_fragments; }, at_walls, items);
  for (const ItemOnOtherWalls& i : items)
    log_detail("{}: {} {:.12g}, {:.12g} after the wall has moved: opened {:.6g}, closed {:.6g}", part.process, i.name,
               i.balance.before, i.balance.after, i.balance.opened, i.balance.closed);
  if (change.boxes) {
    std::vector<ItemChange> changes;
    moved = state_on_other_grid(*change.boxes, moved, changes);
    for (const ItemChange& c : changes)
      log_detail("{}: {} {:.12g}, {:.12g} on other boxes", part.process, c.name, c.before, c.after);
  }
  return moved;
}

/// Where walls are.
struct WallPosition {
  std::vector<std::uint64_t> keys;
  std::vector<double> values, slopes;
};

WallPosition position_of(const MovingWalls& walls) {
  const Displacement& s = walls.displacement;
  const std::span<const double> own = s.values().first(s.blocks().n_own_corners());
  return {s.blocks().layout().keys(), {own.begin(), own.end()}, {s.slopes().begin(), s.slopes().end()}};
}

/// Boxes are shared out evenly whatever was before, so that each rank has its own again. Collective.
void put_walls(const JobContext& context, const WallPosition& position) {
  MovingWalls& walls = *context.walls;
  walls.now.drop_cache();
  walls.put_back(context.comm, domain_of(context.geometry()));
  walls.displacement.add_boxes(context.comm, context.comm.rank() == 0 ? position.keys : std::vector<std::uint64_t>());
  std::ranges::copy(position.values, walls.displacement.values().begin());
  std::ranges::copy(position.slopes, walls.displacement.slopes().begin());
}

/// Transport in time cannot go on without the flow that carries it; steady states end by themselves.
bool needs_flow(const Config& config) {
  return config.transport.asked() && !config.transport.steady() && config.flow.model != FlowModel::none;
}

/// The motion that would close the last pore is not made: the run ends in order where walls are.
void end_before_closing(JobContext& context, std::shared_ptr<const Ground> before, const WallPosition& position,
                        Checkpoint& state) {
  context.ground = std::move(before);
  put_walls(context, position);
  for (Checkpoint::Part& part : state.parts)
    if (part.process == walls_process) part.state.numbers[ended_item] = no_path;
}

/// @param taken  solids of the ground before that were taken away, and nothing else has happened; empty: walls have
///               moved
void move_states(const JobContext& context, const Ground& before, std::span<const std::int32_t> taken,
                 Checkpoint& state) {
  const Exchanges nothing;
  const Exchanges& exchanges = taken.empty() ? context.services.exchanges : nothing;
  std::optional<GroundChange> change;
  std::vector<WallRows> deposits;
  for (Checkpoint::Part& part : state.parts) {
    if (part.process == walls_process) continue;
    if (!change) change.emplace(compare_grounds(context, before));
    State moved = transport_on_moved_walls(*change, part, exchanges);
    if (context.config.chemistry.asked())
      deposits = move_deposits(context, before, change->walls.from, change->now(), part.state, moved);
    part.state = std::move(moved);
  }
  WallEvents events;
  for (Checkpoint::Part& part : state.parts)
    if (part.process == walls_process) {
      part.state = taken.empty() ? on_moved_walls(context, before, deposits, part.state)
                                 : on_walls_carried_away(context, before, part.state);
      fail_together(context.comm, [&] { take_value(part.state.numbers.at(wall_events_item), events); });
      add_wall_events(context, before, events, taken);
      part.state.numbers[wall_events_item] = json_of(events, shown::record);
    }
}

/// Solids that the last motion has made loose.
std::vector<std::int32_t> loose_solids_of(const JobContext& context, const Checkpoint& state) {
  WallEvents events;
  for (const Checkpoint::Part& part : state.parts)
    if (part.process == walls_process)
      fail_together(context.comm, [&] { take_value(part.state.numbers.at(wall_events_item), events); });
  return just_loose(events, context.geometry());
}

/// States out, processes down, another ground with states that fit it by change(state), jobs for walls, processes up.
template <class F>
void change_walls(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock, F&& change) {
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  std::vector<std::string> histories;
  for (const auto& process : all)
    std::ranges::copy(process->recorder()->files().histories, std::back_inserter(histories));
  all.clear();
  try {
    change(*state);
    do_jobs_for_walls(context);
    all = begin_together(context, jobs, state);
  } catch (const Error&) {  // the same on all ranks
    std::ranges::copy(histories, std::back_inserter(context.services.files.left));
    throw;
  }
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

}  // namespace

void do_jobs_for_walls(const JobContext& context) {
  if (!context.walls || context.config.transport.steady()) return;
  Exchanges& exchanges = context.services.exchanges;
  context.walls->steady.clear();
  exchanges.flow = {};
  exchanges.wall_rates.clear();
  exchanges.at_walls.clear();
  exchanges.walls_behind = {};
  exchanges.dissolution.clear();
  exchanges.deposits.clear();
  if (!needs_flow(context.config)) return;
  context.walls->steady = steady_results(context, {{flow_job()}}, exchanges);
}

void move_walls(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
  const WallMotion* asked = nullptr;
  const double longest = clock.output_due() || clock.at_break() || clock.done() ? 0.0 : clock.rest();
  for (const auto& process : all)
    if (const WallMotion* motion = process->wall_motion(longest)) asked = motion;
  if (asked == nullptr) return;
  const Timer timer("moving walls");
  const WallMotion motion = *asked;
  if (motion.over > 0.0) clock.skip(motion.over);
  for (const auto& process : all) process->skip(motion.over);
  std::vector<std::int32_t> loose;
  change_walls(context, jobs, all, clock, [&](Checkpoint& state) {
    const bool may_close = needs_flow(context.config);
    const WallPosition position = may_close ? position_of(*context.walls) : WallPosition{};
    move_by(context, motion);
    const std::shared_ptr<const Ground> before = context.ground;
    set_ground(context, context.flagged());
    if (may_close && !flow_percolates(context)) return end_before_closing(context, before, position, state);
    move_states(context, *before, {}, state);
    if (context.config.walls.fragments == LooseSolid::remove) loose = loose_solids_of(context, state);
  });
  const bool ends = std::ranges::any_of(all, [](const auto& process) { return !process->ends_early().empty(); });
  if (loose.empty() || ends) return;
  change_walls(context, jobs, all, clock, [&](Checkpoint& state) {
    MovingWalls& walls = *context.walls;
    const std::shared_ptr<const Ground> before = context.ground;
    take_solids(context.comm, before->geometry().topology->solids, loose, walls.before, walls.displacement);
    walls.now.drop_cache();
    set_ground(context, context.flagged());
    move_states(context, *before, loose, state);
  });
}

}  // namespace karst
