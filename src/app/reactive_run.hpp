// SPDX-License-Identifier: BSD-3-Clause
// Chemistry in the job of transport in time: reactions after each step, their history, fields and figures.
#pragma once

#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/job.hpp"
#include "app/reactive_plan.hpp"
#include "app/vof_values.hpp"
#include "page/plane_picture.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/reactive/coupled_step.hpp"
#include "transport/reactive/reaction_step.hpp"

namespace karst {

struct TransportLine;

/// A solution that mean totals make.
struct WaterLine {
  double ph = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> saturation;  ///< [mineral] log10 Ω; NaN, as the pH, where there is no such water
};

/// A mineral over a step and since the beginning.
struct MineralLine {
  double rate = 0.0;  ///< of dissolution [mol/s]
  double well_mixed =
      0.0;  ///< A r(mean of all totals over the fluid): what it were if the fluid were well mixed [mol/s]
  double dissolved = 0.0;   ///< since the beginning [mol]
  double time_error = 0.0;  ///< ReactionReport::time_error since the beginning [mol]
  /// Rate over the well-mixed one: 1 where mixing is fast, below where films hold the reaction back; NaN: both are 0.
  double ratio() const { return well_mixed != 0.0 ? rate / well_mixed : std::numeric_limits<double>::quiet_NaN(); }
};

/// One step of the chemistry.
struct ReactiveLine {
  double time = 0.0, pore_volumes = 0.0;
  WaterLine outlet;  ///< of the flux-weighted mean of each total at the outlet, at the end of the step
  WaterLine mean;    ///< of the mean of each total over the fluid
  std::vector<MineralLine> minerals;
  std::vector<double> content;    ///< [primary] in the fluid [mol]
  std::vector<double> imbalance;  ///< [primary] what is gained or lost, over what moved and is there
  double charge = 0.0;            ///< in the fluid [mol]
  double charge_imbalance = 0.0;  ///< of the step
  std::int64_t solved = 0, kept = 0, speciations = 0;
};

/// Reactions of a run. What it does is collective.
class ReactiveRun {
 public:
  /// @param stepper  whose components from ReactivePlan::first on are the totals; outlives this
  ReactiveRun(const JobContext& run, const TransportStepper& stepper);
  /// After the initial values are set.
  void start(const TransportState& state);
  /// A step of transport and reactions.
  void step(TransportStepper& stepper, TransportState& state, double dt, TransportReport& moved);
  /// Finds the water at the outlet.
  void see(const TransportLine& moved);
  /// Writes the line of the last step that has been seen.
  void record();
  /// Takes that line into the history of the summary.
  void remember() { history_.push_back(line_); }
  void close() { csv_.close(); }

  /// Fields of pH, saturation indices, species and minerals, all found anew.
  std::vector<JobComponent> fields(const TransportState& state, std::shared_ptr<const JoinedCells> joined) const;
  /// Keeps planes through the middle along the axis of pH and saturation indices.
  void take_picture(const FieldView& view, int axis, double time);
  /// Pictures of all planes but the last, on rank 0: that is drawn from the fields. Not collective.
  void draw(Figures& figures) const;
  std::string text() const;
  std::string headline() const;
  std::string json() const;  ///< an object with the member chemistry
  std::vector<Balance> balances() const;
  std::vector<std::string> warnings() const;
  static constexpr const char* csv_name = "chemistry.csv";

 private:
  /// Minerals on walls, and those in the volume.
  struct Place {
    ReactiveSites sites;
    ReactionState state;
    ReactionReport report;
    bool walls = false;
  };
  bool couples(double dt) const;
  void add(const Place& place, double dt);
  std::span<const Array<double>> totals(const TransportState& state) const;
  void find_contents(const TransportState& state, std::vector<double>& content, std::vector<double>& size) const;
  void balance(const TransportState& state, const TransportReport& moved);
  double finest_width() const;
  double molar_volume(std::size_t mineral) const;
  WaterLine water_of(std::span<const double> totals, Speciation& state) const;
  void compare_with_well_mixed(const TransportState& state);
  std::vector<std::string> drawn_fields() const;
  std::vector<std::pair<double, double>> picture_ranges() const;

  const JobContext& run_;
  const ReactivePlan& plan_;
  const ScalarGrid& grid_;
  double moles_;        ///< of 1 mol/kgw in h0³ of fluid
  double fluid_ = 0.0;  ///< [h0³]
  std::vector<Place> places_;
  std::vector<double> area_;  ///< [mineral] [m²], over all ranks
  std::vector<double> content_, size_;
  CoupledScratch coupled_;
  double longest_ = 0.0;  ///< D dt / h² of the longest step in turn, where walls react; h of the finest level
  ReactiveLine line_;
  ReactiveLine worst_;        ///< largest imbalances
  Speciation mean_, outlet_;  ///< the last ones found, where the next search begins
  std::vector<ReactiveLine> history_;
  /// Planes of drawn_fields() at some times.
  struct Picture {
    double time;
    std::vector<PlaneValues> planes;
  };
  std::vector<Picture> pictures_;
  double cell_width_ = 1.0;
  std::ofstream csv_;  // rank 0
};

/// Chemistry on the page of transport: its key figures, charts, and pictures of the figures "chemistry FIELD N".
struct ReactivePage {
  std::vector<PageTile> tiles;
  std::vector<std::string> charts, pictures, numbers;  ///< cards
};
ReactivePage reactive_page(const nlohmann::ordered_json& summary, const Figures& figures);
/// Pictures of the last state. Collective.
void draw_reactive(const Comm& comm, const nlohmann::ordered_json& summary, const FieldView& view, Figures& figures);
/// How pH and saturation indices are drawn, with ends of the scale that show something.
PlaneLook chemistry_look(const std::string& field, double cell_width, double low, double high,
                         const std::string& caption);

}  // namespace karst
