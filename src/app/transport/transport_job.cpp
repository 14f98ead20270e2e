// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_job.hpp"

#include <algorithm>
#include <memory>

#include "app/transport/steady_transport_job.hpp"

namespace karst {

Job transport_job() {
  return {
      .word = job_word("transport"),
      .mistakes = transport_mistakes,
      .start = [](const JobContext& context) -> std::unique_ptr<Process> {
        if (context.config.transport.steady()) return one_step(context, steady_transport);
        return start_transport_in_time(context);
      },
      .draw = draw_transport,
      .page = transport_page,
      .cost = {.plan = plan_transport,
               .setup_work = transport_setup_work,
               .pace = transport_pace,
               .usual_pace = {.setup = 4e-6, .iteration = 0.4e-6},
               .n_components =
                   [](const Config& config) {
                     return static_cast<int>(std::ranges::count(config.output.plot, PlotField::concentration)) *
                                static_cast<int>(config.transport.components.size()) +
                            static_cast<int>(std::ranges::count(config.output.plot, PlotField::chemistry)) *
                                static_cast<int>(1 + 2 * config.chemistry.minerals.size() +
                                                 config.chemistry.species.size());
                   }},
      .uses_flow = true,
      .rides_along = [](const Config& config) { return config.transport.asked() && is_in_time(config.flow.model); }};
}

}  // namespace karst
