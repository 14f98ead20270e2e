// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/run_timers.hpp"

#include <vector>

#include "base/comm/memory.hpp"
#include "base/comm/timer.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

Json to_json(const TimerRow& row, const std::vector<std::string>& path) {
  Json json{{"path", path},           {"calls", row.calls},
            {"samples", row.samples}, {"least_s", row.min},
            {"mean_s", row.mean},     {"most_s", row.max},
            {"cov", row.cov},         {"messages", row.messages},
            {"bytes", row.bytes},     {"collectives", row.collectives}};
  if (row.step.max > 0.0)
    json["in_steps"] = Json{{"steps", row.step.steps},
                            {"least_s", row.step.min},
                            {"mean_s", row.step.mean},
                            {"most_s", row.step.max},
                            {"cov", row.step.cov}};
  return json;
}

std::string timers_json(const std::vector<TimerRow>& rows, const StepSeconds& steps) {
  Json json{{"timers", Json::array()}};
  std::vector<std::string> path;
  for (const TimerRow& row : rows) {
    path.resize(row.depth);
    path.push_back(row.name);
    json["timers"].push_back(to_json(row, path));
  }
  if (!steps.seconds.empty()) json["steps"] = Json{{"first", steps.first}, {"seconds", steps.seconds}};
  return json.dump() + '\n';
}

}  // namespace

void write_timers(const Comm& comm, const RunFolder& folder, const StepSeconds& steps) {
  const std::vector<TimerRow> rows = collect_timers(comm);
  const std::string in_steps = step_table(rows);
  write_file(comm, folder.file("timers.txt"),
             timer_table(rows) + (in_steps.empty() ? "" : '\n' + in_steps) + '\n' + arena::report(comm));
  write_file(comm, folder.file("timers.json"), timers_json(rows, steps));
}

Trace begin_trace(const Comm& comm, const CommandLine& line, const Config& config) {
  if (line.trace.empty()) return {};
  TraceOptions options;
  options.file = line.trace;
  options.megabytes = line.trace_room;
  if (!line.trace_steps.empty()) {
    const StepRange steps = read_steps("--trace-steps", line.trace_steps, config);
    options.first_step = steps.first;
    options.last_step = steps.last;
  }
  return {comm, options, line.overwrite};
}

void finish_trace(Trace& trace, const CommandLine& line) {
  if (!trace.taken()) return;
  const Trace::Written w = trace.write();
  log_info("Trace in {}: {} events, {:.1f} MB; open it {}", line.trace, w.events, 1e-6 * static_cast<double>(w.bytes),
           line.trace.ends_with(".otf2") ? "by its traces.otf2, in Vampir or with otf2-print"
                                         : "in https://ui.perfetto.dev or with tools/karst_trace.py");
  if (w.events == 0) log_warn("the trace is empty: the run made no step of --trace-steps {}", line.trace_steps);
  if (w.dropped > 0)
    log_warn(
        "the trace buffer was full: {} slices and messages are missing at the end; increase --trace-room or choose "
        "fewer --trace-steps",
        w.dropped);
}

}  // namespace karst
