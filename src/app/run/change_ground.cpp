// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/change_ground.hpp"

#include <algorithm>
#include <utility>

#include "app/job/run_services.hpp"
#include "base/comm/timer.hpp"
#include "base/file/log.hpp"
#include "fields/other_owners.hpp"
#include "transport/regrid/fluxes_on_other_grid.hpp"

namespace karst {

namespace {

bool same_boxes(const Geometry& a, const Geometry& b) {
  return std::ranges::equal(a.levels, b.levels, [](const LevelGeometry& x, const LevelGeometry& y) {
    return x.graph.layout().keys() == y.graph.layout().keys();
  });
}

/// Steady flows that jobs of this run have left for others, to other owners.
void move_flow(const Comm& comm, const Ground& from, const Ground& to, FlowExchange& flow) {
  constexpr int width = 4;
  for (FlowColumn& column : flow.columns) {
    if (!comm.any(!column.solution.empty())) continue;
    const std::vector<Quad>& was = column.solution;
    const std::span<const double> rows =
        was.empty() ? std::span<const double>() : std::span(was.front().v.data(), width * was.size());
    const std::vector<double> now = with_other_owners(comm, rows, width, *from.composite(), *to.composite());
    std::vector<Quad> solution(now.size() / width);
    for (std::size_t i = 0; i < now.size(); ++i) solution[i / width].v[i % width] = now[i];
    column.solution = std::move(solution);
    column.speed.clear();
  }
  if (flow.fluxes) flow.fluxes->faces = with_other_owners(flow.fluxes->faces, to.composite());
}

/// Fluxes in place of solutions: those of the axis that is carried along.
void take_fluxes(const JobContext& context, const Ground& from, FlowExchange& flow) {
  if (flow.fluxes || flow.columns.empty()) return;
  const Config& config = context.config;
  const auto column = std::ranges::find(flow.columns, config.flow.axes.at(0), &FlowColumn::axis);
  if (column != flow.columns.end()) {
    const double h = context.grid.cell_width(), velocity = column->darcy_velocity[column->axis];
    flow.fluxes =
        SteadyFluxes{column->axis, velocity,
                     flow_fluxes(from.composite(), config.flow, config.fluid.viscosity, h, *column, velocity / h)};
  }
  flow.columns.clear();
}

/// To another grid: all states, and the flow that was left. Returns the new transport grid.
std::shared_ptr<ScalarGrid> transfer(const JobContext& context, const Ground& from, FlowExchange& flow,
                                     Checkpoint& state) {
  take_fluxes(context, from, flow);
  GridChange change = compare_grids(from.composite(), context.ground->composite());
  for (Checkpoint::Part& part : state.parts) {
    std::vector<ItemChange> changes;
    part.state = state_on_other_grid(change, part.state, changes);
    for (const ItemChange& c : changes)
      log_detail("{}: {} {:.12g} on the grid before, {:.12g} on this one", part.process, c.name, c.before, c.after);
  }
  if (flow.fluxes) {
    flow.fluxes->faces = fluxes_on_other_grid(change, flow.fluxes->faces);
    flow.fluxes->continuous = false;
  }
  return change.shared_to;
}

}  // namespace

void change_ground(JobContext& context, std::span<const Job> jobs, const MakeGround& make, Together& all,
                   Clock& clock) {
  const Timer timer("other ground");
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  std::shared_ptr<ScalarGrid> volumes = scalar_grid_in_use(*context.ground->composite());
  all.clear();
  FlowExchange& flow = context.services.exchanges.flow;
  flow.in_time.reset();
  const std::shared_ptr<const Ground> ground = make();
  {
    const std::shared_ptr<const Ground> before = std::exchange(context.ground, ground);
    if (same_boxes(before->geometry(), ground->geometry())) {
      volumes.reset();
      for (Checkpoint::Part& part : state->parts)
        part.state = with_other_owners(context.comm, part.state, before->geometry(), context.geometry());
      move_flow(context.comm, *before, *ground, flow);
    } else {
      std::shared_ptr<ScalarGrid> now = transfer(context, *before, flow, *state);
      if (volumes) volumes = std::move(now);  // the processes that want one will find it
    }
  }
  all = begin_together(context, jobs, state);
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock) {
  change_ground(
      context, jobs, [&] { return context.dealt_out(costs); }, all, clock);
}

}  // namespace karst
