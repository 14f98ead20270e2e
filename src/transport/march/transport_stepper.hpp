// SPDX-License-Identifier: BSD-3-Clause
// Time stepping of transport_problem.hpp: bounded, conservative to round-off and of second order (decision 029).
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

#include "transport/flow/carrying_flow.hpp"
#include "transport/march/limiter.hpp"
#include "transport/volumes/transport_problem.hpp"

namespace karst {

struct TransportParts;

/// The state that is advanced in time.
struct TransportState {
  double time = 0.0;
  /// Per component, in the order of ScalarGrid (n_values): own unknowns first.
  std::vector<Array<double>> values;
  /// Range of all previous data per component, which no value leaves.
  std::vector<ScalarRange> range;
};

/// Amounts of one component in a step, over all ranks [concentration h0³].
struct ComponentBalance {
  double inflow = 0.0, outflow = 0.0;  ///< through the faces where the flow enters and leaves, diffusion included
  double wall = 0.0;                   ///< out of the fluid
  double decay = 0.0, source = 0.0;
  double stored = 0.0;   ///< change of the amount in the fluid
  double content = 0.0;  ///< amount in the fluid after the step
  double imbalance =
      0.0;  ///< |inflow - outflow - wall - decay + source - stored| / (sum of the amounts that moved or changed)
  double least = 0.0, largest = 0.0;  ///< value
};

struct TransportReport {
  double step = 0.0;
  double largest_explicit_step = 0.0;  ///< V / outflow of the volumes that are not treated implicitly
  std::int64_t implicit_volumes = 0;   ///< treated implicitly: the flow empties them in less than the step
  std::int64_t limited_faces = 0;      ///< factors that cut an advective correction by more than a hundredth
  std::int64_t limited_diffusion = 0;  ///< the same for diffusion and wall
  int passes = 0;                      ///< of the limiter of diffusion
  /// Low-order sub-steps, with iterations where a part is implicit; sweeps or iterations of both stages of diffusion.
  /// Summed over components.
  int low_iterations = 0, high_iterations = 0;
  std::vector<ComponentBalance> components;
};

class TransportStepper {
 public:
  /// Throws Error with all errors of the components. The geometry of the composite must outlive the stepper.
  /// Collective.
  TransportStepper(const std::shared_ptr<const Composite>& composite, std::vector<ScalarComponent> components,
                   const TransportOptions& options = {});
  ~TransportStepper();

  /// Sets the flow: fluxes through all faces [h0³/time]. Throws Error if their continuity error exceeds
  /// options.allowed_divergence; smaller errors are removed. Collective.
  /// @param potential  flow_potential() of an earlier call for these fluxes, also with another distribution; empty:
  /// computed
  FlowContinuity set_flow(FaceField& flow, std::span<const double> potential = {});
  /// Potential of the irrotational flow that removed the continuity error: one number per own volume, or 0 if none was
  /// needed.
  std::vector<double> flow_potential() const;
  /// The advecting flow: one number per face of grid(), divergence-free.
  std::span<const double> flow() const;
  /// Courant number 1 in the volumes of at least half a cell; smaller ones are treated implicitly if necessary.
  double largest_step() const;
  /// The same, the fastest volumes of each level left out that have a tenth of what the flow moves there: they are
  /// implicit, too, where the step empties them. The same as largest_step() in a flow of one speed.
  double step_of_most() const;

  TransportState make_state() const;
  /// Sets a component from a function of the centroid [h0], from a field, or from one value per own volume. Collective.
  void set_values(TransportState& state, std::size_t component, const std::function<double(const Vec3&)>& value);
  void set_values(TransportState& state, std::size_t component, const CellField& field, int of_field = 0);
  /// To be called after own values were changed by the caller: fetches those of other ranks and extends the range.
  /// Collective.
  void take_changes(TransportState& state, std::size_t component);
  void set_values(TransportState& state, std::size_t component, std::span<const double> values);
  /// The unknowns of a field. Not collective.
  void get_values(const TransportState& state, std::size_t component, CellField& field, int of_field = 0) const;

  /// From here on the wall acts as if it were farther away, or nearer, than that of the geometry: by what the
  /// concentration changes from the one to the other, which is added to c_eq in the fluxes of second order. Those of
  /// low order, and so the range, are as they were. Not collective.
  /// @param change  one per own volume [concentration]; empty: nothing
  void set_beyond_wall(std::size_t component, std::span<const double> change);
  /// One step of length dt. Allocates nothing after the first steps. Throws Error if dt is not positive, if there is no
  /// flow, or if a solve fails. Collective.
  /// @param sources  per component, n_own each [concentration/time]: added uniformly over the step, in addition to the
  ///                 component's own source; empty: none. ComponentBalance::source counts it.
  void advance(TransportState& state, double dt, TransportReport& report, std::span<const Array<double>> sources = {});
  /// Gives the state back that the last advance() began with, whether that made a step or threw, and whatever has
  /// changed its values since; to the bit. Nothing to do where there was none, or after forget_start(). Not collective.
  void go_back(TransportState& state);
  /// From here on no step is to be taken back.
  void forget_start();

  const ScalarGrid& grid() const;
  ScalarGrid& grid();  ///< for exchanges between ranks
  const std::vector<ScalarComponent>& components() const;
  /// Loss of a component through the wall of each own volume in the last step [concentration h0³]; empty if the wall is
  /// sealed.
  std::vector<double> wall_amounts(std::size_t component) const;
  const LimiterWork& limiter_work() const;  ///< of the limiter of diffusion, in the last step and in all
  std::int64_t bytes() const;               ///< of this rank, the grid included, which others may share

 private:
  void start_range(TransportState& state, std::size_t component);

  std::unique_ptr<TransportParts> parts_;
};

}  // namespace karst
