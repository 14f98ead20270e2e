// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"
#include "app/flow/flow_quantities.hpp"
#include "base/core/error.hpp"

namespace karst {

SolveRecord record_of(const Comm& comm, const FlowColumn& column) {
  SolveRecord record{{}, json_of(column, shown::record)};
  Json& state = record.state;
  state["setup_seconds"] = comm.max(column.setup_seconds);
  state["seconds"] = comm.max(column.seconds);
  record.result = {{"permeability_m2", column.permeability.v},
                   {"iterations", column.iterations},
                   {"relative_residual", column.relative_residual},
                   {"seconds", state["seconds"]}};
  for (std::size_t i = 0; i < column.inertia.size(); ++i) {
    const InertiaPoint& p = column.inertia[i];
    state["inertia"][i]["seconds"] = comm.max(p.seconds);
    record.result["inertia"].push_back({{"reynolds", p.reynolds}, {"permeability_m2", p.permeability}});
  }
  return record;
}

FlowColumn flow_column(const Json& state) try {
  FlowColumn column;
  take_value(state, column);
  return column;
} catch (const JsonError& e) {
  throw Error(fmt::format("the record of a finished solve cannot be read: {}", e.what()));
}

SolveRecord record_of(const Comm& comm, const PausedSweep& sweep) {
  FlowColumn column = sweep.slow;
  column.inertia = sweep.state.points;
  const SolveRecord record = record_of(comm, column);
  Json state{{"column", record.state}};
  each_quantity(sweep, ToJson{state, shown::record});
  return {record.result, state};
}

PausedSweep paused_sweep(const Json& state) {
  require(state.is_object() && state.contains("column"), "the record of a sweep cannot be read");
  PausedSweep sweep;
  sweep.slow = flow_column(state.at("column"));
  std::swap(sweep.state.points, sweep.slow.inertia);
  each_quantity(sweep, FromRecord{state});
  return sweep;
}

}  // namespace karst
