// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/machine_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

PlannedSeconds price(const Machine& machine, double messages, double bytes, double collectives, int ranks) {
  return {0.0, messages * machine.latency + bytes / machine.bandwidth,
          collectives * machine.reduction * std::log2(static_cast<double>(ranks))};
}

/// What one halo exchange has now over what it had.
double times_as_many(double now, double before) { return before > 0.0 ? now / before : 1.0; }

}  // namespace

double Machine::slow_down_of(double at_work) const {
  if (cores == 1) return slow_down;
  return 1.0 + (slow_down - 1.0) * (std::clamp(at_work, 1.0, static_cast<double>(cores)) - 1.0) / (cores - 1);
}

void read(Reader& in, Machine& machine) {
  constexpr double never = 1e3, any = 1e300;
  in.text("name", machine.name, "for the table");
  in.integer("cores", machine.cores, "-", "that share a memory", 1, 1000000);
  in.number("slow_down", machine.slow_down, "-", "times as long as on one core takes the same work where all work", 1.0,
            any);
  in.number("latency", machine.latency, "s", "of a message to another rank", 0.0, never);
  in.number("bandwidth", machine.bandwidth, "B/s", "of messages of a rank", 1.0, any);
  in.number("reduction", machine.reduction, "s", "of a collective call, per doubling of the ranks", 0.0, never);
}

Machine read_machine(const std::string& path) {
  Machine machine;
  Reader in = Reader::from_file(path);
  read(in, machine);
  in.finish();
  return machine;
}

CountedRun read_counted_run(const std::string& folder) {
  const std::string name = folder + "/summary.json";
  const Json json = Json::of_file(name);
  require(json.is_object(), "{}: does not exist, or is not JSON; expected: the directory of a finished run", name);
  require(json.value("status", std::string("completed")) == "completed" && json.contains("communication"),
          "{}: the run is not completed, or was made by an older version; expected: a completed run of this version",
          name);
  CountedRun run;
  try {
    run.communication = read_communication(json.at("communication"));
    run.ranks = json.at("ranks").get<int>();
    run.threads = json.at("threads").get<int>();
    run.fluid = json.at("cells").at("fluid").get<double>();
    for (const Json& level : json.at("levels"))
      run.imbalance = std::max(run.imbalance, level.at("imbalance").get<double>());
  } catch (const JsonError& e) {
    throw Error(name + ": " + e.what());
  }
  require(run.ranks > 1,
          "{}: a run on one rank sends no messages that could be counted; expected: a run on two ranks or more", name);
  return run;
}

PlannedSeconds planned_seconds(const Machine& machine, const CountedRun& run, const OtherRanks& other) {
  const Communication& c = run.communication;
  const PlannedSeconds sent = price(machine, c.messages.most, c.bytes.most, c.collectives.most, run.ranks);
  const double at_work = static_cast<double>(run.threads) * run.ranks;
  const double per_cell =
      std::max(c.seconds - sent.total(), 0.0) / machine.slow_down_of(at_work) / (run.fluid / run.ranks * run.imbalance);
  PlannedSeconds seconds =
      price(machine, c.messages.most * times_as_many(other.messages.most, c.exchange_messages.most),
            c.bytes.most * times_as_many(other.cells.most, c.exchange_cells.most), c.collectives.most, other.ranks);
  seconds.work = per_cell * other.fluid / other.ranks * other.imbalance *
                 machine.slow_down_of(static_cast<double>(run.threads) * other.ranks);
  return seconds;
}

}  // namespace karst
