// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/steady_jobs.hpp"

#include <utility>

#include "app/job/run_services.hpp"
#include "base/comm/timer.hpp"

namespace karst {

namespace {

/// As the deck asks, for one position of the walls of many.
Config config_of_step(const Config& config) {
  Config of_step = config;
  of_step.flow.estimate_error = of_step.flow.uncertainty = false;
  of_step.output.wall = false;
  if (config.walls.animation) of_step.output.plot.push_back(PlotField::concentration);
  return of_step;
}

}  // namespace

std::vector<JobResult> steady_results(const JobContext& run, std::span<const Job> jobs, Exchanges& exchanges) {
  const Timer timer("steady state");
  const Config config = config_of_step(run.config);
  RunServices services{.solves_in_a_step = true};
  services.exchanges.taken = {ExchangeName::flow, ExchangeName::wall_rates};
  const JobContext here{
      .comm = run.comm, .config = config, .grid = run.grid, .ground = run.ground, .services = services};
  std::vector<JobResult> results;
  for (const Job& job : jobs) {
    if (!job.word.is_asked(config)) continue;
    const std::unique_ptr<Process> process = job.start(here);
    process->step(0.0);
    results.push_back(process->report());
  }
  exchanges.flow = std::move(services.exchanges.flow);
  exchanges.wall_rates = std::move(services.exchanges.wall_rates);
  return results;
}

}  // namespace karst
