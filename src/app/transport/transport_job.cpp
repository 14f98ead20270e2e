// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_job.hpp"

#include <algorithm>
#include <memory>

#include "app/deck/reactive_plan.hpp"
#include "app/job/exchange.hpp"
#include "app/transport/steady_transport_job.hpp"
#include "base/core/wall_clock.hpp"
#include "transport/march/transport_stepper.hpp"

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
                   .trial = try_transport,
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

namespace {

/// Steps per cell width that the fluid travels: the fastest cells are several times as fast as the mean.
constexpr double steps_per_cell = 10.0;
constexpr double usual_iterations = 30.0;  ///< of a steady component
/// Bytes per fluid cell: conductances of coupled steps and what their implicit diffusion works in.
constexpr double coupled_faces = 350.0;
/// Bytes per fluid cell: what a step works in, for each component that goes through it beside another.
constexpr double beside = 112.0;
constexpr double usual_pore_volumes = 2.0;  ///< where the deck gives seconds, and the velocity is not known yet

bool has_walls(const ChemistryDeck& deck) {
  return deck.asked() && std::ranges::any_of(deck.minerals, [](const MineralDeck& m) { return !m.wall.empty(); });
}
/// Steps may be coupled with minerals on walls.
bool couples_walls(const ChemistryDeck& deck) { return has_walls(deck) && deck.walls != WallCoupling::in_turn; }

/// Bytes per site of what steps go back to (SitesBefore).
/// @param doubles  of sorbed totals, or of totals before the first half of a step
double before_step(const ReactiveMedium& medium, std::size_t doubles) {
  const std::size_t floats = medium.n_basis() + 2 + medium.n_totals();
  return static_cast<double>(sizeof(float) * floats + sizeof(double) * (2 * medium.minerals.size() + doubles));
}

}  // namespace

JobPlan plan_transport(const Config& config, const GridOptions& grid) {
  const TimeOptions& time = config.time;
  const bool flows = config.flow.model != FlowModel::none;
  const int axis = flows ? config.flow.axes.at(0) : config.transport.axis;
  const double volumes = time.end_pore_volumes > 0.0 ? time.end_pore_volumes : usual_pore_volumes;
  double steps = flows ? volumes * steps_per_cell * grid.cells[axis] / (2.0 * time.cfl) : 1.0;
  if (time.dt > 0.0) steps = std::max(flows ? steps : 1.0, time.end / time.dt);
  const auto n = static_cast<double>(config.transport.components.size());
  JobPlan all;
  if (config.transport.steady()) {
    all.grids.push_back({.name = "",
                         .iterations = n * usual_iterations,
                         .solves = static_cast<int>(config.transport.components.size())});
    all.solve = {950.0, 1500.0, 0.0};
    all.kept = sizeof(double) * n;
    all.more_work = 4.0;  // Péclet numbers of a cell far above 1, laws of the wall that are not linear
    return all;
  }
  all.grids.push_back({.name = "", .iterations = steps * n});
  all.solve = {300.0 + 60.0 * n + beside * (std::min(n, double{most_side_by_side}) - 1.0), 900.0, 8.0 * n};
  if (is_in_time(config.flow.model)) all.solve.fluid += sizeof(double) * n;  // values before a step of the flow
  if (couples_walls(config.chemistry)) {  // sources and what has moved; δ and what it dissolves
    const auto minerals = static_cast<double>(config.chemistry.minerals.size());
    all.solve.fluid += coupled_faces + 8.0 * (2.0 * n + 2.0 * minerals);
  }
  if (config.reactive != nullptr && has_walls(config.chemistry)) {
    const ReactiveMedium& walls = config.reactive->medium;
    all.solve.irregular += before_step(walls, walls.n_totals());
  }
  if (config.reactive != nullptr && config.reactive->bulk) {  // ReactionState, sites, and what a step works in
    const ReactiveMedium& bulk = config.reactive->bulk->medium;
    all.solve.fluid += 8.0 * static_cast<double>(bulk.n_basis() + 2 + 5 * bulk.n_totals() + 5 * bulk.minerals.size()) +
                       before_step(bulk, bulk.sites.empty() ? 0 : bulk.n_totals());
  }
  all.more_work = 2.0;
  return all;
}

/// A step of diffusion in fluid at rest.
JobTrial try_transport(const std::shared_ptr<const Ground>& ground) {
  const std::shared_ptr<const Composite>& composite = ground->composite();
  const WallClock clock;
  ScalarComponent c;
  c.diffusivity = 1.0;
  TransportStepper stepper(composite, {c});
  FaceField still(composite);
  stepper.set_flow(still);
  TransportState state = stepper.make_state();
  stepper.set_values(state, 0, [](const Vec3& x) { return x[0] < 16.0 ? 1.0 : 0.0; });
  const double setup = clock.seconds();
  constexpr int steps = 3;
  TransportReport report;
  for (int i = 0; i < steps; ++i) stepper.advance(state, 0.2, report);
  return {setup, clock.seconds() - setup, steps};
}

}  // namespace karst
