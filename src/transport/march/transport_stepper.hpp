// SPDX-License-Identifier: BSD-3-Clause
// Steps in time of transport_problem.hpp: bounded, conservative to round-off and of second order (decision 029).
//
//   TransportStepper stepper(composite, components);
//   stepper.set_flow(flow);                               // a FaceField, as often as it changes
//   TransportState state = stepper.make_state();
//   stepper.set_values(state, 0, [](const Vec3& x) { return ...; });
//   TransportReport report;
//   while (...) stepper.advance(state, std::min(0.5 * stepper.largest_step(), ...), report);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "transport/march/carrying_flow.hpp"
#include "transport/march/diffusion_stages.hpp"
#include "transport/march/limiter.hpp"
#include "transport/march/low_order.hpp"
#include "transport/march/transport_problem.hpp"

namespace karst {

/// What is advanced in time.
struct TransportState {
  double time = 0.0;
  /// Per component, in the order of ScalarGrid (n_values): own unknowns first.
  std::vector<Array<double>> values;
  /// Range of all data so far per component: nothing leaves it.
  std::vector<ScalarRange> range;
};

/// Amounts of one component in a step, over all ranks [concentration h0³].
struct ComponentBalance {
  double inflow = 0.0, outflow = 0.0;  ///< through the faces where the flow enters and leaves, diffusion included
  double wall = 0.0;                   ///< out of the fluid
  double decay = 0.0, source = 0.0;
  double stored = 0.0;     ///< change of what is in the fluid
  double content = 0.0;    ///< in the fluid after the step
  double imbalance = 0.0;  ///< |inflow - outflow - wall - decay + source - stored| / (what moved and changed)
  double least = 0.0, largest = 0.0;  ///< value
};

struct TransportReport {
  double step = 0.0;
  double largest_explicit_step = 0.0;           ///< V / outflow of the volumes that are not treated implicitly
  std::int64_t implicit_volumes = 0;            ///< treated implicitly: the flow changes them in less than the step
  std::int64_t limited_faces = 0;               ///< whose advective correction was cut by more than a hundredth
  std::int64_t limited_diffusion = 0;           ///< the same for diffusion and wall
  int passes = 0;                               ///< of the limiter of diffusion
  int low_iterations = 0, high_iterations = 0;  ///< summed over components and stages
  std::vector<ComponentBalance> components;
};

class TransportStepper {
 public:
  /// Throws Error with all mistakes of the components. The composite's geometry must stay. Collective.
  TransportStepper(std::shared_ptr<const Composite> composite, std::vector<ScalarComponent> components,
                   const TransportOptions& options = {});
  ~TransportStepper();

  /// The flow from now on: fluxes through all faces [h0³/time]. Throws Error when they miss continuity by more than
  /// options.allowed_divergence; what they miss is taken out of them. Collective.
  FlowContinuity set_flow(FaceField& flow);
  /// What carries: one number per face of grid(), without what missed continuity.
  std::span<const double> flow() const { return flow_.all.span(); }
  /// Courant number 1 in the volumes of at least half a cell; smaller ones are treated implicitly when they must.
  double largest_step() const { return flow_.largest_step; }

  TransportState make_state() const;
  /// Sets a component from a function of the centroid [h0], from a field, or from one value per own volume. Collective.
  void set_values(TransportState& state, std::size_t component, const std::function<double(const Vec3&)>& value);
  void set_values(TransportState& state, std::size_t component, const CellField& field, int of_field = 0);
  /// After own values were changed from outside: fetches those of other ranks and widens the range. Collective.
  void take_changes(TransportState& state, std::size_t component);
  void set_values(TransportState& state, std::size_t component, std::span<const double> values);
  /// The unknowns of a field. Not collective.
  void get_values(const TransportState& state, std::size_t component, CellField& field, int of_field = 0) const;

  /// One step of length dt. Allocates nothing after the first steps. Throws Error when dt is not positive, without a
  /// flow, and when a solve fails. Collective.
  /// @param sources  per component, n_own each [concentration/time]: what comes in evenly over the step, beside the
  ///                 component's own source; empty: nothing. ComponentBalance::source counts it.
  void advance(TransportState& state, double dt, TransportReport& report, std::span<const Array<double>> sources = {});

  const ScalarGrid& grid() const { return grid_; }
  ScalarGrid& grid() { return grid_; }  ///< for exchanges between ranks
  const std::vector<ScalarComponent>& components() const { return components_; }
  /// What a component lost through the wall of each own volume in the last step [concentration h0³]; empty where the
  /// wall is sealed.
  std::span<const double> wall_amounts(std::size_t component) const;
  std::int64_t bytes() const;  ///< of this rank

 private:
  /// What a component needs in a step.
  struct Work {
    Array<double> low;                // n_values: c_low, then with limited diffusion
    Array<double> correction;         // n_faces: amounts
    Array<double> wall;               // n_own: correction at the wall; empty: sealed
    Array<double> through_wall;       // n_own: amounts of the last step
    std::vector<double> ends;         // per face on the ends of the domain: amount out of the domain
    DiffusionGroup* group = nullptr;  // nullptr: does not diffuse
    double content = 0.0;             // before the step
    std::span<const double> source;   // of advance(); empty: none
    bool reacts() const { return wall.size() > 0; }
  };
  void start_range(TransportState& state, std::size_t component);
  double content(const TransportState& state, std::size_t i) const;
  void include_data(TransportState& state, std::size_t i);
  struct StepTimes {
    double t, dt;
  };
  void set_boundary(std::size_t i, const StepTimes& step, bool at_end, std::span<double> values) const;
  void react(TransportState& state, std::size_t i, double dt, TransportReport& report);
  void low_order_step(TransportState& state, std::size_t i, double dt, TransportReport& report);
  void take_low_flux(TransportState& state, std::size_t i, double dt);
  void add_source(TransportState& state, std::size_t i, double dt, TransportReport& report);
  void find_mean(const TransportState& state, std::size_t i);
  void find_balance(const TransportState& state, std::size_t i);
  void diffusive_correction(TransportState& state, std::size_t i, double dt, TransportReport& report);
  void advective_correction(TransportState& state, std::size_t i, double dt);
  void take_correction(TransportState& state, std::size_t i, double dt, bool limited, bool wall);
  void correct_diffusion(TransportState& state, double dt, TransportReport& report);
  void correct_advection(TransportState& state, double dt, TransportReport& report);
  void balance(TransportState& state, std::size_t i, TransportReport& report) const;

  std::vector<ScalarComponent> components_;
  TransportOptions options_;
  ScalarGrid grid_;
  CarryingFlow flow_;
  LowOrderSolver low_;
  std::vector<std::unique_ptr<DiffusionGroup>> groups_;
  std::unique_ptr<DiffusionScratch> diffusion_;
  LimiterScratch limiter_;
  std::vector<Work> work_;
  std::vector<Correction> corrections_;
  Array<double> flux_;       // n_faces
  Array<double> mean_;       // n_values
  Array<double> wall_flux_;  // n_own; empty where no wall reacts
  std::array<Array<double>, 3> gradient_;
};

}  // namespace karst
