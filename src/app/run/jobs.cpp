// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "app/deck/plot_extent.hpp"
#include "app/flow/flow_in_time.hpp"
#include "app/job/job.hpp"
#include "app/transport/transport_job.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

std::span<const Job> jobs() {
  static const std::array all{flow_job(),       dynamic_job(),   diffusion_job(),
                              dispersion_job(), transport_job(), walls_job()};
  return all;
}

std::vector<Job> asked_jobs(const Config& config) {
  std::vector<Job> asked;
  std::string ways;
  for (const Job& job : jobs()) {
    if (job.word.is_asked(config)) asked.push_back(job);
    ways += fmt::format("\n  {:<22}{}", job.word.name, job.word.asked_by);
  }
  require(!asked.empty(),
          "karst run: the deck requests nothing to compute. Each of these requests a job:{}\n`karst geometry` builds "
          "only the grid",
          ways);
  std::vector<std::string_view> done_by_others;
  for (const Job& job : asked) std::ranges::copy(job.does(config), std::back_inserter(done_by_others));
  std::erase_if(asked, [&](const Job& job) { return std::ranges::count(done_by_others, job.word.name) > 0; });
  return in_order(std::move(asked), config);
}

std::vector<std::string> axes_without_path(const Config& config, const Geometry& geometry) {
  std::vector<std::string> all;
  for (int axis = 0; axis < 3; ++axis) {
    const bool flow = config.flow.model != FlowModel::none && std::ranges::count(config.flow.axes, axis) > 0;
    const bool diffusion = std::ranges::count(config.diffusion.axes, axis) > 0;
    if ((flow || diffusion) && !geometry.report.percolates[axis])
      all.push_back(
          geometry.report.unresolved(axis)
              ? fmt::format("pores percolate along {} only where no cell centre lies in them: use finer cells",
                            axis_names[axis])
              : fmt::format("no pore percolates through the sample along {}: the {} is 0 there", axis_names[axis],
                            !diffusion ? "permeability"
                            : flow     ? "permeability and the diffusivity"
                                       : "diffusivity"));
  }
  return all;
}

void check_jobs(const JobContext& context) {
  Messages found = plot_mistakes(context.config.output, context.grid, context.sample_low());
  std::vector<Job> asked;  // none: a deck that describes a grid alone may be checked
  for (const Job& job : jobs()) {
    if (!job.word.is_asked(context.config)) continue;
    asked.push_back(job);
    found.add(job.mistakes(context));
  }
  found.finish();
  found = not_given(asked, context.config);
  found.finish();
  // What only a look at the whole fluid finds, by the functions that the jobs themselves call.
  if (is_in_time(context.config)) found = look_at_flow_in_time(context);
  if (context.config.transport.asked()) found.add(look_at_transport(context));
  found.finish();
}

}  // namespace karst
