// SPDX-License-Identifier: BSD-3-Clause
#include "app/cli/init_jobs.hpp"

#include <algorithm>

#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

Settings permeability() { return {{"flow.model", "\"stokes\""}}; }

/// A flow along x that carries something.
Settings carried(std::string_view plot) {
  return {{"flow.model", "\"stokes\""},
          {"flow.axes", "[\"x\"]"},
          {"flow.estimate_error", "false"},
          {"transport.diffusivity", "1e-9"},
          {"output.plot", fmt::format("[\"fraction\", \"velocity\", {}]", plot)}};
}

Settings with(Settings all, const Settings& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Settings tracer() {
  return with(carried("\"concentration\""), {{"transport.peclet", "10"},
                                             {"transport.component[].name", "\"tracer\""},
                                             {"transport.component[].initial", "0.0"},
                                             {"transport.component[].inlet", "1.0"},
                                             {"time.end_pore_volumes", "2"},
                                             {"time.output_pore_volumes", "0.5"}});
}

Settings reaction() {
  return with(carried("\"concentration\""), {{"transport.mode", "\"steady\""},
                                             {"transport.peclet", "10"},
                                             {"transport.component[].name", "\"acid\""},
                                             {"transport.component[].inlet", "1.0"},
                                             {"transport.wall[].damkohler", "1"}});
}

/// Water with dissolved CO2 and grains of calcite: rate constants and orders at 25 °C as in inputs/calcite-grains.
Settings chemistry() {
  return with(
      carried("\"concentration\", \"chemistry\""),
      {{"transport.peclet", "10"},
       {"chemistry.database", "\"phreeqc.dat\""},
       {"chemistry.initial", "\"formation water\""},
       {"chemistry.inlet", "\"acid brine\""},
       {"chemistry.solution[].name", "\"formation water\""},
       {"chemistry.solution[].pH", "\"charge\""},
       {"chemistry.solution[].totals", "[\"Na 0.1\", \"Cl 0.1\", \"C(4) 1e-3 CO2(g) -2.5\", \"Ca 1e-3 Calcite 0\"]"},
       {"chemistry.solution[].name", "\"acid brine\""},
       {"chemistry.solution[].pH", "\"charge\""},
       {"chemistry.solution[].totals", "[\"Na 0.1\", \"Cl 0.1\", \"C(4) 0.03 CO2(g) 0\"]"},
       {"chemistry.mineral[].name", "\"calcite\""},
       {"chemistry.mineral[].phase", "\"Calcite\""},
       {"chemistry.mineral[].wall", "\"all\""},
       {"chemistry.mineral[].rates", "[\"0.89 H+ 1\", \"5.01e-4 CO2 1\", \"6.6e-7\"]"},
       {"time.end_pore_volumes", "1"}});
}

Settings flow_in_time() {
  return {{"flow.model", "\"unsteady-stokes\""},
          {"flow.axes", "[\"x\"]"},
          {"time.end", "\"10 ms\""},
          {"time.dt", "\"0.2 ms\""},
          {"time.output", "\"2 ms\""},
          {"output.plot", "[\"fraction\", \"velocity\", \"pressure\"]"}};
}

}  // namespace

const std::array<InitJob, 6>& init_jobs() {
  static const std::array<InitJob, 6> jobs{
      {{"permeability", "the permeability", permeability},
       {"tracer", "the breakthrough of a tracer", tracer},
       {"reaction", "the steady state of a reaction on the wall", reaction},
       {"chemistry", "the dissolution of calcite by acid water, without change of the wall", chemistry},
       {"flow-in-time", "the transient flow from rest", flow_in_time},
       {"study", "the permeability of each case", permeability}}};
  return jobs;
}

const InitJob& init_job(std::string_view name) {
  const auto found = std::ranges::find(init_jobs(), name, &InitJob::name);
  std::vector<std::string> names;
  for (const InitJob& job : init_jobs()) names.emplace_back(job.name);
  require(found != init_jobs().end(), "--job {}: unknown; the jobs are {}", name, join(names));
  return *found;
}

}  // namespace karst
