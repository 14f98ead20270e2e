// SPDX-License-Identifier: BSD-3-Clause
// Chemistry in the job of transport in time: reactions after each step, their history, fields and figures.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/reactive_plan.hpp"
#include "app/vof_values.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/reactive/coupled_step.hpp"
#include "transport/reactive/reaction_step.hpp"

namespace karst {

/// A mineral over a step and since the beginning.
struct MineralLine {
  double rate = 0.0;        ///< of dissolution [mol/s]
  double well_mixed = 0.0;  ///< what it were if the fluid were well mixed [mol/s]
  double dissolved = 0.0;   ///< since the beginning [mol]
  double time_error = 0.0;  ///< ReactionReport::time_error since the beginning [mol]
};

/// One step of the chemistry.
struct ReactiveLine {
  double time = 0.0;
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
  /// Writes the line of the last step, and takes it into the summary.
  void record(double time);
  void close() { csv_.close(); }

  /// Fields of pH, saturation indices, species and minerals. Empty unless output.plot has chemistry.
  std::vector<JobComponent> fields(const TransportState& state, std::shared_ptr<const JoinedCells> joined) const;
  std::string text() const;
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
  void compare_with_well_mixed(const TransportState& state);

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
  ReactiveLine worst_;  ///< largest imbalances
  Speciation mean_;
  std::ofstream csv_;  // rank 0
};

}  // namespace karst
