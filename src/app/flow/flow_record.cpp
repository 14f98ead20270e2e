// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"

#include "app/flow/flow_quantities.hpp"
#include "base/core/error.hpp"

namespace karst {

SolveRecord record_of(const Comm& comm, const FlowColumn& column) {
  SolveRecord record;
  Json& state = record.state;
  each_quantity(column, ToJson{state, shown::record});
  if (column.grid_gradient) state["grid_gradient_Pa_m"] = *column.grid_gradient;
  state["setup_seconds"] = comm.max(column.setup_seconds);
  state["seconds"] = comm.max(column.seconds);
  record.result = {{"permeability_m2", column.permeability.v},
                   {"iterations", column.iterations},
                   {"relative_residual", column.relative_residual},
                   {"seconds", state["seconds"]}};
  state["inertia"] = Json::array();
  for (const InertiaPoint& p : column.inertia) {
    Json point;
    each_quantity(p, column.axis, 1.0, ToJson{point, shown::record});
    point["seconds"] = comm.max(p.seconds);
    state["inertia"].push_back(point);
    record.result["inertia"].push_back({{"reynolds", p.reynolds}, {"permeability_m2", p.permeability}});
  }
  if (column.forchheimer) each_quantity(*column.forchheimer, ToJson{state["forchheimer"], shown::record});
  return record;
}

FlowColumn flow_column(const Json& state) {
  try {
    FlowColumn column;
    each_quantity(column, FromRecord{state});
    if (state.contains("grid_gradient_Pa_m")) column.grid_gradient = state.at("grid_gradient_Pa_m").get<double>();
    for (const Json& point : state.at("inertia"))
      each_quantity(column.inertia.emplace_back(), column.axis, 1.0, FromRecord{point});
    if (state.contains("forchheimer")) each_quantity(column.forchheimer.emplace(), FromRecord{state.at("forchheimer")});
    return column;
  } catch (const JsonError& e) {
    throw Error(fmt::format("the record of a finished solve cannot be read: {}", e.what()));
  }
}

SolveRecord record_of(const Comm& comm, const PausedSweep& sweep) {
  FlowColumn column = sweep.slow;
  column.inertia = sweep.state.points;
  SolveRecord record = record_of(comm, column);
  record.state = {{"fall", sweep.fall},
                  {"sample_fall", sweep.state.fall},
                  {"velocity", sweep.state.velocity},
                  {"reached", sweep.state.reached},
                  {"solved_reynolds", sweep.state.solved_reynolds},
                  {"column", Json(record.state)}};
  return record;
}

PausedSweep paused_sweep(const Json& state) {
  require(state.is_object() && state.contains("column"), "the record of a sweep cannot be read");
  PausedSweep sweep;
  sweep.slow = flow_column(state.at("column"));
  sweep.fall = state.at("fall");
  std::swap(sweep.state.points, sweep.slow.inertia);
  sweep.state.fall = state.at("sample_fall");
  sweep.state.velocity = state.at("velocity");
  sweep.state.reached = state.at("reached");
  sweep.state.solved_reynolds = state.at("solved_reynolds");
  return sweep;
}

}  // namespace karst
