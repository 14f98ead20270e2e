// SPDX-License-Identifier: BSD-3-Clause
// Job `transport`: dissolved components step by step, their breakthrough and their fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/job/job.hpp"
#include "app/output/probes.hpp"
#include "base/math/no_number.hpp"
#include "page/plane_picture.hpp"
#include "transport/breakthrough.hpp"

namespace karst {

/// One component after a step. C: its unit of concentration.
struct ComponentLine {
  double outlet = 0.0;                             ///< flux-weighted mean of what flows out at the outlet [C]; NaN
  double mean = 0.0;                               ///< in the fluid of the pores [C]
  double inflow = 0.0, outflow = 0.0, wall = 0.0;  ///< over the step; through the ends; into the wall [C m³/s]
  double made = 0.0;                               ///< source less decay, over the step [C m³/s]
  double least = 0.0, largest = 0.0;               ///< [C]
  double imbalance = 0.0;                          ///< ComponentBalance::imbalance
};
struct TransportLine {
  double time = 0.0, dt = 0.0;
  double pore_volumes = 0.0;  ///< that have flowed through
  std::vector<ComponentLine> components;
  std::vector<double> probes{};  ///< of TransportResult::probes [C]
};

/// What a wall does to a component at the end.
struct WallResult {
  double rate = 0.0;        ///< mean k over the reacting wall [m/s]
  double area = 0.0;        ///< of it [m²]
  double loss = 0.0;        ///< into it [C m³/s]
  double well_mixed = 0.0;  ///< Σ k A (mean - equilibrium): what it were if the fluid were well mixed [C m³/s]
  double order = 1.0;       ///< of the law
  double concentration = no_number;  ///< mean at it [C]
  double to_wall = no_number;        ///< loss / (area (mean - concentration)) [m/s]
  /// NaN where a well mixed fluid would lose nothing, or gain where this one loses.
  double ratio_to_well_mixed() const {
    return well_mixed != 0.0 && loss / well_mixed >= 0.0 ? loss / well_mixed : no_number;
  }
};

inline constexpr const char *tracer_unit = "C",  ///< any one
    *total_unit = "mol/kgw";                     ///< of the totals of [chemistry]

struct ComponentResult {
  std::string name;
  std::string unit = tracer_unit;     ///< of concentrations
  double diffusivity = 0.0;           ///< [m²/s]
  double low = 0.0, high = 0.0;       ///< range of all data
  double least = 0.0, largest = 0.0;  ///< values that were met
  double imbalance = 0.0;             ///< largest of a step
  double inlet = 0.0;                 ///< concentration of the inflow at the end; NaN without one
  bool moments_wanted = false;        ///< conservative, with an inlet, and uniform at the beginning
  bool conservative = true;           ///< nothing makes or takes it on the way
  bool closed_ends = true;            ///< nothing diffuses through the ends
  bool taken_below_zero = false;  ///< no data are negative, but what sources and walls take leaves less than nothing
  std::optional<Breakthrough> response;
  std::optional<WallResult> wall;
};

/// Of member `transport` of a summary: that of transport.mode = "steady".
bool is_steady(const Json& transport);

/// Péclet number of a cell above which the layers of the concentration are thinner than cells.
constexpr double largest_cell_peclet = 10.0;

/// Length L of Péclet and Damköhler numbers [m], and behind it in text what it is: nothing if the deck gives it.
struct NumberLength {
  double length = 0.0;
  std::string_view what;
};

struct TransportResult {
  bool steady = false;  ///< one state, without times and steps
  int axis = 0;
  bool flows = false, has_ends = true;  ///< has_ends: the domain is not periodic along the axis
  bool in_time = false;                 ///< the flow goes through time, too
  double length = 0.0;                  ///< of the sample along the axis [m]
  double cell_width = 0.0;              ///< of the finest level [m]
  int reservoir = 0;                    ///< cells before and behind it
  NumberLength number_length;
  double porosity = 0.0;        ///< of the pores open to flow
  double pore_volume = 0.0;     ///< [m³]
  double darcy_velocity = 0.0;  ///< along the axis; in time: mean over the run [m/s]
  double flow_factor = 1.0;     ///< of the flow of the drive: transport.peclet
  double reynolds = 0.0;        ///< of the flow so scaled; 0: it is not
  double flow_rate = 0.0;       ///< [m³/s]
  double backflow = 0.0;        ///< part of it that comes in through the outlet
  double pore_time = 0.0;       ///< in which the pores are filled once [s]; 0: no flow, or one that goes through time
  double continuity_before = 0.0, continuity_after = 0.0;  ///< FlowContinuity
  std::int64_t implicit_volumes = 0;
  std::int64_t iterations = 0;
  int steps = 0;
  double dt = 0.0;                    ///< longest
  std::vector<TransportLine> states;  ///< some hundred at most, the first and the last among them
  std::vector<ComponentResult> components;
  std::vector<double> output_times;  ///< of which there are pictures [s]
  ProbeTable probes;

  /// Of concentrations in rows of all components: "C", "mol/kgw", "C, mol/kgw".
  std::string unit() const;
  double pore_velocity() const { return porosity > 0.0 ? darcy_velocity / porosity : 0.0; }
  /// k L / D; of another order n than 1 with k c^(n-1), c the concentration of the inflow. Of a component with a wall.
  double damkohler(const ComponentResult& c) const;
  /// U/φ L / D; infinite without diffusion.
  double peclet(const ComponentResult& c) const;
  /// D_L [m²/s], see closed_vessel_dispersion(); nothing where it does not apply.
  std::optional<double> dispersion(const ComponentResult& c) const;
};

inline constexpr const char* profiles_csv = "profiles.csv";  ///< means of layers across the axis
/// The first line of transport.csv, and that of a step.
std::string transport_header(const TransportResult& result);
std::string transport_line(const TransportResult& result, const TransportLine& line);
std::string transport_text(const TransportResult& result);
std::string transport_headline(const TransportResult& result);
/// Member transport of summary.json.
Json transport_json(const TransportResult& result);
std::vector<std::string> transport_warnings(const TransportResult& result);

/// See Job.
std::vector<std::string> transport_mistakes(const JobContext& context);
/// Those that only a look at the whole fluid finds: probes and initial values. The same on every rank. Collective.
std::vector<std::string> look_at_transport(const JobContext& context);
PagePart transport_page(const Json& summary, const Figures& figures);
/// Pictures of the last state.
void draw_transport(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);
/// Ends of the scale of colours of a component, and its unit.
struct PlumeScale {
  double low = 0.0, high = 0.0;
  std::string unit = tracer_unit;
};
/// A picture of a component in the middle plane along the axis; on rank 0. Collective.
std::string plume_picture(const Comm& comm, const FieldView& view, const std::string& component, int axis,
                          const PlumeScale& scale, const std::string& caption);
/// The same value everywhere and always but for round-off, a total but for 1e-4: there is nothing to draw.
bool is_uniform(const PlumeScale& scale);
/// How plumes are drawn.
PlaneLook plume_look(double cell_width, const PlumeScale& scale, const std::string& caption);
/// Writes transport.csv, a line per step, and profiles.csv, at output times. Throws Error on all ranks. Collective.
std::unique_ptr<Process> start_transport_in_time(const JobContext& run);
JobPlan plan_transport(const Config& config, const GridOptions& grid);
JobTrial try_transport(const std::shared_ptr<const Ground>& ground);

}  // namespace karst
