// SPDX-License-Identifier: BSD-3-Clause
// Transport in time as what steps: components, the flow that carries them, and reactions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/output/probes.hpp"
#include "app/reaction/reactive_run.hpp"
#include "app/transport/steady_transport_job.hpp"
#include "app/transport/transport_setup.hpp"
#include "fields/state.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/scalar_means.hpp"

namespace karst {

/// What flows through the ends of the domain.
struct EndRates {
  std::vector<FlowThroughEnd> ends;
  double in = 0.0;                ///< through all ends into the domain [h0³/s]
  double through = 0.0;           ///< out through the outlet, less what comes back there [h0³/s]
  double backflow = 0.0;          ///< what comes in through the outlet, over all that flows out
  bool leaves_by_outlet = false;  ///< all that flows out
};

/// Where a step of the run began: what neither the stepper nor the chemistry gives back.
struct SystemBefore {
  double time = 0.0, carried = 0.0, passed = 0.0;
  std::vector<ScalarRange> range;
  FlowContinuity continuity;
  std::vector<Array<double>> values;  ///< where a step is several of advance(); empty: the stepper has them
};

/// State and what advances it.
struct TransportSystem {
  /// At the beginning, but for the flow, which take_flow() sets. Throws Error on all ranks: values that are not finite
  /// or leave their bounds. Collective.
  explicit TransportSystem(const JobContext& context);
  bool is_total(std::size_t i) const { return chemistry && i >= run.config.reactive->first; }
  bool keeps_flow() const { return flow.flows && !flow.in_time; }  ///< the same in all steps
  /// From an inlet to an outlet, so that what goes in and comes out are signals.
  bool has_signals() const { return keeps_flow() && flow.outlet() >= 0; }
  std::span<const double> own_values(std::size_t i) const {
    return state.values[i].span().first(stepper->grid().n_own);
  }

  const JobContext& run;
  double h;                 ///< width of a cell of level 0 [m]
  CarriedBy flow;           ///< without faces where these stay the same
  TransportResult numbers;  ///< what does not change in time
  Probes probes;
  std::optional<TransportStepper> stepper;
  double fluid_volume = 0.0;  ///< [h0³]
  std::string given;          ///< what answers depend on beside deck and geometry, a line each
  TransportState state;
  std::optional<ReactiveRun> chemistry;
  TransportReport report;  ///< of the last step
  /// Walls have moved since that step: this ground has other volumes, and no flux at pieces of its walls is known yet.
  bool moved_since_step = false;
  EndRates ends;         ///< now
  double carried = 0.0;  ///< fluid that a flow in time has brought in [h0³]
  double passed = 0.0;   ///< of it, what has passed from inlet to outlet: less where the flow turns back [h0³]
  /// Of steady flows before this one, where walls have moved.
  struct {
    double time = 0.0;          ///< until then [s]
    double pore_volumes = 0.0;  ///< that had flowed in
    double pore_volume = 0.0;   ///< at the beginning [m³]; 0: it has not changed
  } earlier;
  FlowContinuity continuity;  ///< worst of the flows up to now
  SystemBefore before;        ///< the step under way
};

/// The flow from now on. Collective.
/// @param potential  that made it continuous before; empty: to be solved for
void take_flow(FaceField& faces, TransportSystem& system, std::span<const double> potential = {});
/// A step with the present flow. Throws Error on all ranks. Collective.
void advance(TransportSystem& system, double dt);

/// Before a step of the run, of one advance() in a steady flow, of any number in a flow in time. Not collective.
void keep_state(TransportSystem& system);
/// Gives back what there was then, to the bit; the flow is for the next step to set. Collective.
void give_state_back(TransportSystem& system);

/// What is given on an inlet or a fixed end is not what is in the volume there. Collective.
/// @param end  of the run [s]
bool begins_with_jump(const TransportSystem& system, double end);
/// That have flowed in.
double pore_volumes(const TransportSystem& system);
/// Of the last step; before the first one of the state, without amounts. Collective.
TransportLine line_of(const TransportSystem& system);
/// Head and lines of profiles.csv: means of layers across the axis now. The lines are collective.
/// @param before  each line begins with it
/// @param values  of own volumes, per component
std::string profile_header(const JobContext& run, const std::string& before);
std::string profile_lines(const JobContext& run, const ScalarGrid& grid, int axis,
                          const std::vector<std::span<const double>>& values, const std::string& before);
std::string profile_header(const TransportSystem& system);
std::string profile_lines(const TransportSystem& system);
/// What its state depends on. Collective.
std::string dependencies_of(const TransportSystem& system);
/// All that its steps look back on. Collective.
State state_of(const TransportSystem& system);
/// Goes on from there, first with the flow, whose potential is an item, then with all else. Throw the same Error on all
/// ranks. Collective.
void take_flow_of(const State& state, TransportSystem& system);
void take_state(const State& state, TransportSystem& system);

/// Process::flag() of what it computes: components, rates at walls, formulas, and a steady flow (transport_follow.cpp).
/// Collective.
bool flag_boxes(TransportSystem& system, const Refinement& rule, AskedBoxes* boxes);

enum class Chemistry : std::uint8_t { left_out, included };  ///< its fields, which take a speciation per cell
std::vector<JobComponent> fields_of(const TransportSystem& system, Chemistry chemistry);

/// What walls with laws do in a step, as maps.
struct WallsInStep {
  std::vector<WallPlace> places;
  std::vector<std::vector<SurfaceLaw>> laws;  ///< [component][mineral]
  std::vector<std::vector<double>> flux;      ///< [component][place] [C m/s]; totals have none
  std::vector<WallMap> maps;                  ///< [component]
};

/// Of the last step. Not collective.
WallsInStep walls_in_step(const TransportSystem& system);

/// The same by component and mineral, and what minerals of [chemistry] gave off: wall_rates, at_walls, dissolution and
/// deposits. Not collective.
void leave_wall_rates(const TransportSystem& system, Exchanges& exchanges);

/// Walls that are behind or ahead in a step: as far as in its middle. Not collective.
void take_walls_behind(const WallsBehind& walls, double dt, TransportSystem& system);

}  // namespace karst
