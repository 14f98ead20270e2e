// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/change_ground.hpp"

#include <utility>

#include "app/job/run_services.hpp"
#include "app/run/flow_on_ground.hpp"
#include "base/comm/timer.hpp"
#include "base/file/log.hpp"
#include "fields/other_owners.hpp"
#include "transport/regrid/values_on_other_grid.hpp"

namespace karst {

namespace {

/// To another grid: all states, and the flow that was left. Returns the new transport grid.
std::shared_ptr<ScalarGrid> transfer(const JobContext& context, const Ground& before, Checkpoint& state) {
  GridChange change = compare_grids(before.composite(), context.ground->composite());
  for (Checkpoint::Part& part : state.parts) {
    std::vector<ItemChange> changes;
    part.state = state_on_other_grid(change, part.state, changes);
    for (const ItemChange& c : changes)
      log_detail("{}: {} {:.12g} on the grid before, {:.12g} on this one", part.process, c.name, c.before, c.after);
  }
  move_flow(context, before, &change);
  return change.shared_to;
}

void change_ground(JobContext& context, std::span<const Job> jobs, const std::optional<FlaggedBoxes>& flagged,
                   const BoxCosts& costs, Together& all, Clock& clock) {
  const Timer timer("other ground");
  context.services.balance.begin_pass();
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  std::shared_ptr<ScalarGrid> volumes = scalar_grid_in_use(*context.ground->composite());
  all.clear();
  context.services.exchanges.flow.in_time.reset();
  const std::shared_ptr<const Ground> ground = context.make_ground(flagged, costs);
  {
    const std::shared_ptr<const Ground> before = std::exchange(context.ground, ground);
    if (same_boxes(before->geometry(), ground->geometry())) {
      volumes.reset();
      for (Checkpoint::Part& part : state->parts)
        part.state = with_other_owners(context.comm, part.state, before->geometry(), context.geometry());
      move_flow(context, *before);
    } else {
      std::shared_ptr<ScalarGrid> now = transfer(context, *before, *state);
      if (volumes) volumes = std::move(now);  // the processes that want one will find it
    }
  }
  all = begin_together(context, jobs, state);
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

}  // namespace

void change_levels(JobContext& context, std::span<const Job> jobs, const std::optional<FlaggedBoxes>& flagged,
                   Together& all, Clock& clock) {
  change_ground(context, jobs, flagged, costs_at_start(context.config.run), all, clock);
}

void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock) {
  change_ground(context, jobs, context.flagged(), costs, all, clock);
}

}  // namespace karst
