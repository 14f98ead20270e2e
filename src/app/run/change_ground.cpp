// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/change_ground.hpp"

#include <algorithm>
#include <utility>

#include "app/job/run_services.hpp"
#include "base/comm/timer.hpp"
#include "base/file/log.hpp"
#include "fields/other_owners.hpp"
#include "transport/diffusion/kept_diffusion.hpp"
#include "transport/regrid/fluxes_on_other_grid.hpp"
#include "transport/regrid/values_on_other_grid.hpp"
#include "transport/volumes/gradient_weights.hpp"

namespace karst {

namespace {

/// To another grid: all states, and the flow that was left. Returns the new transport grid.
/// @param same  where it is that of before; nullptr: not known
std::shared_ptr<ScalarGrid> transfer(const JobContext& context, const Ground& before, const SameBoxes* same,
                                     Checkpoint& state) {
  GridChange change = compare_grids(before.composite(), context.ground->composite());
  if (same != nullptr) take_gradient_weights({&change.from, same}, change.to);
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
  std::vector<std::shared_ptr<DiffusionGroup>> groups = diffusion_groups_of(*context.ground->composite());
  all.clear();
  const auto kept = std::make_shared<KeptDiffusion>(nullptr, keep_rows(std::move(groups)));
  context.services.exchanges.flow.in_time.reset();
  const std::shared_ptr<const Ground> ground = context.make_ground(with_flagged(context.grid, flagged), costs);
  {
    const std::shared_ptr<const Ground> before = std::exchange(context.ground, ground);
    if (!kept->groups.empty())
      kept->same = std::make_shared<const SameBoxes>(compare_boxes(*before->composite(), *ground->composite()));
    if (same_boxes(before->geometry(), ground->geometry())) {
      volumes.reset();
      for (Checkpoint::Part& part : state->parts)
        part.state = with_other_owners(context.comm, part.state, before->geometry(), context.geometry());
      move_flow(context, *before);
    } else {
      std::shared_ptr<ScalarGrid> now = transfer(context, *before, kept->same.get(), *state);
      if (volumes) volumes = std::move(now);  // the processes that want one will find it
    }
  }
  const auto for_processes = ground->composite()->in_use().get<KeptDiffusion>([&] { return kept; });
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

namespace {

/// Solutions to other owners.
void move_columns(const Comm& comm, const Ground& from, const Ground& to, FlowExchange& flow) {
  constexpr int width = 4;
  for (FlowColumn& column : flow.columns) {
    if (column.fluxes) column.fluxes = std::make_shared<FaceField>(with_other_owners(*column.fluxes, to.composite()));
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
    if (!flow.fluxes) return;
    flow.fluxes->faces = with_other_owners(flow.fluxes->faces, now.composite());
    if (flow.fluxes->solved) flow.fluxes->solved->transferred = {};
    return;
  }
  take_fluxes(context, before, flow);
  if (!flow.fluxes) return;
  SteadyFluxes& fluxes = *flow.fluxes;
  const bool is_first = !fluxes.solved;
  if (is_first) fluxes.solved = SolvedFluxes{std::move(fluxes.faces), scalar_grid_of(before.composite(), {})};
  SolvedFluxes& solved = *fluxes.solved;
  if (same_boxes(solved.faces.grid().geometry(), now.geometry())) {
    fluxes.faces = with_other_owners(solved.faces, now.composite());
    fluxes.solved.reset();
    return;
  }
  const auto transfer = [&](GridChange& since, const FluxesBefore* kept) {
    fluxes.faces = fluxes_on_other_grid(since, solved.faces, kept);
    solved.transferred = {since.places, since.id, coarsest_sources(since)};
  };
  if (is_first && change != nullptr) return transfer(*change, nullptr);
  const SolvedFluxes::Transferred was = std::move(solved.transferred);
  const bool is_known = change != nullptr && was.places != nullptr;
  GridChange since = compare_grids(solved.faces.composite(), now.composite(),
                                   is_known ? KnownSources{was.places, change, was.sources} : KnownSources{});
  if (!is_known) return transfer(since, nullptr);
  const FluxesBefore kept{*change, fluxes.faces, was.sources, was.coarsest};
  transfer(since, &kept);
}

void set_ground(JobContext& context, const std::optional<FlaggedBoxes>& flagged) {
  context.ground = context.make_ground(with_flagged(context.grid, flagged), costs_at_start(context.config.run));
}

void set_levels(JobContext& context, const std::optional<FlaggedBoxes>& flagged) {
  if (flagged == context.flagged()) return;
  const std::shared_ptr<const Ground> before = context.ground;
  set_ground(context, flagged);
  move_flow(context, *before);
}

}  // namespace karst
