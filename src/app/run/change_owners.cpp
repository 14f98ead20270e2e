// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/change_owners.hpp"

#include <utility>

#include "app/job/run_services.hpp"
#include "base/comm/timer.hpp"
#include "fields/other_owners.hpp"

namespace karst {

namespace {

/// Flows that jobs of this run have left for others. That in time is left again by its process.
void move_flow(const Comm& comm, const Ground& from, const Ground& to, FlowExchange& flow) {
  constexpr int width = 4;
  flow.in_time.reset();
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
  if (flow.inlet) flow.inlet->faces = with_other_owners(flow.inlet->faces, to.composite());
}

/// All that jobs have left for one another.
void move_exchanges(const Comm& comm, const Ground& from, const Ground& to, Exchanges& exchanges) {
  move_flow(comm, from, to, exchanges.flow);
}

}  // namespace

void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock) {
  const Timer timer("other owners");
  std::optional<Checkpoint> state = take_checkpoint(context, all, clock);
  all.clear();
  const std::shared_ptr<const Ground> ground = context.dealt_out(costs);
  {
    const std::shared_ptr<const Ground> before = std::exchange(context.ground, ground);
    for (Checkpoint::Part& part : state->parts)
      part.state = with_other_owners(context.comm, part.state, before->geometry(), context.geometry());
    move_exchanges(context.comm, *before, *context.ground, context.services.exchanges);
  }
  all = begin_together(context, jobs, state);
  clock = all.front()->clock();
  clock.go_on(state->clock);
}

}  // namespace karst
