// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/flow_on_ground.hpp"

#include <algorithm>
#include <utility>

#include "app/job/run_services.hpp"
#include "fields/other_owners.hpp"
#include "transport/regrid/fluxes_on_other_grid.hpp"

namespace karst {

namespace {

/// Solutions to other owners.
void move_columns(const Comm& comm, const Ground& from, const Ground& to, FlowExchange& flow) {
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

}  // namespace

bool same_boxes(const Geometry& a, const Geometry& b) {
  return std::ranges::equal(a.levels, b.levels, [](const LevelGeometry& x, const LevelGeometry& y) {
    return x.graph.layout().keys() == y.graph.layout().keys();
  });
}

void move_flow(const JobContext& context, const Ground& before, GridChange* change) {
  const Ground& now = *context.ground;
  FlowExchange& flow = context.services.exchanges.flow;
  if (same_boxes(before.geometry(), now.geometry())) {
    move_columns(context.comm, before, now, flow);
    if (flow.fluxes) flow.fluxes->faces = with_other_owners(flow.fluxes->faces, now.composite());
    return;
  }
  take_fluxes(context, before, flow);
  if (!flow.fluxes) return;
  SteadyFluxes& fluxes = *flow.fluxes;
  if (fluxes.solved)
    change = nullptr;
  else
    fluxes.solved = SolvedFluxes{std::move(fluxes.faces), scalar_grid_of(before.composite(), {})};
  FaceField& solved = fluxes.solved->faces;
  if (same_boxes(solved.grid().geometry(), now.geometry())) {
    fluxes.faces = with_other_owners(solved, now.composite());
    fluxes.solved.reset();
  } else if (change != nullptr) {
    fluxes.faces = fluxes_on_other_grid(*change, solved);
  } else {
    GridChange since = compare_grids(solved.composite(), now.composite());
    fluxes.faces = fluxes_on_other_grid(since, solved);
  }
}

void set_ground(JobContext& context, const std::optional<FlaggedBoxes>& flagged) {
  context.ground = context.make_ground(flagged, costs_at_start(context.config.run));
}

void set_levels(JobContext& context, const std::optional<FlaggedBoxes>& flagged) {
  if (flagged == context.flagged()) return;
  const std::shared_ptr<const Ground> before = context.ground;
  set_ground(context, flagged);
  move_flow(context, *before);
}

}  // namespace karst
