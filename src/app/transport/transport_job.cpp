// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_job.hpp"

#include <memory>

#include "app/deck/reactive_plan.hpp"
#include "app/job/exchange.hpp"
#include "app/transport/steady_transport_job.hpp"

namespace karst {

Job transport_job() {
  return {.word = job_word("transport"),
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
                   .n_fields =
                       [](const Config& config, PlotField field) {
                         return field == PlotField::chemistry ? n_fields(config)
                                                              : static_cast<int>(config.transport.components.size());
                       }},
          .through_petsc = [](const Config& config) { return config.transport.steady(); },
          .in_time = [](const Config& config) { return !config.transport.steady(); },
          .gives = {ExchangeName::wall_rates},
          .takes =
              [](const Config& config) {
                return config.flow.model == FlowModel::none ? std::vector<ExchangeName>()
                                                            : std::vector{ExchangeName::flow};
              }};
}

}  // namespace karst
