// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/run_timers.hpp"

#include <vector>

#include "base/comm/memory.hpp"
#include "base/comm/timer.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"

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

}  // namespace karst
