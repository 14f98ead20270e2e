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

/// To another grid: all states, and the flow that was left.
void transfer(const JobContext& context, const Ground& before, Checkpoint& state) {
  GridChange change = compare_grids(before.composite(), context.ground->composite());
  for (Checkpoint::Part& part : state.parts) {
    std::vector<ItemChange> changes;
    part.state = state_on_other_grid(change, part.state, changes);
    for (const ItemChange& c : changes)
      log_detail("{}: {} {:.12g} on the grid before, {:.12g} on this one", part.process, c.name, c.before, c.after);
  }
  move_flow(context, before, &change);
}

void change_ground(JobContext& context, std::span<const Job> jobs, const FlaggedBoxes& flagged, const BoxCosts& costs,
                   Together& all, Clock& clock) {
  const Timer timer("other ground");
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  all.clear();
  context.services.exchanges.flow.in_time.reset();
  context.services.balance.begin_pass();
  const std::shared_ptr<const Ground> ground = context.make_ground(flagged, costs);
  {
    const std::shared_ptr<const Ground> before = std::exchange(context.ground, ground);
    if (same_boxes(before->geometry(), ground->geometry())) {
      for (Checkpoint::Part& part : state->parts)
        part.state = with_other_owners(context.comm, part.state, before->geometry(), context.geometry());
      move_flow(context, *before);
    } else {
      transfer(context, *before, *state);
    }
  }
  all = begin_together(context, jobs, state);
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

}  // namespace

void change_levels(JobContext& context, std::span<const Job> jobs, const FlaggedBoxes& flagged, Together& all,
                   Clock& clock) {
  change_ground(context, jobs, flagged, costs_at_start(context.config.run), all, clock);
}

void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock) {
  change_ground(context, jobs, context.flagged(), costs, all, clock);
}

}  // namespace karst
