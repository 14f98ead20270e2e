// SPDX-License-Identifier: BSD-3-Clause
// Walls that move as a process: what lasts, what is recorded, and what comes out. How they are driven: between steady
// states (quasi_steady_walls.cpp) or by transport in time (walls_in_time.cpp). Steady jobs of the deck are done
// again for each position.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/job/job.hpp"
#include "app/output/recorder.hpp"
#include "app/walls/wall_events.hpp"
#include "app/walls/walls_job.hpp"

namespace karst {

class WallsProcess : public Process {
 public:
  explicit WallsProcess(const JobContext& run);
  State state() override;
  void go_on(const State& state) override;
  std::string dependencies() const override;
  Recorder* recorder() override { return &recorder_; }
  Clock clock() const override { return Clock(run_.config.time); }
  const WallMotion* wall_motion(double) override { return motion_ ? &*motion_ : nullptr; }
  std::string ends_early() const override { return evolution_.ended_by; }
  void record(const Clock& clock) override;
  void at_output(const Clock& clock) override;
  JobResult report() override;

 protected:
  /// Of jobs that are solved on this ground.
  virtual std::vector<JobResult>& results() = 0;
  /// What has dissolved of a mineral and is no part of EvolutionState yet [h0³].
  virtual double to_be_counted(std::size_t mineral) const {
    (void)mineral;
    return 0.0;
  }
  /// Pore volumes that have flowed in, into the line of now.
  virtual void add_pore_volumes(EvolutionLine& line) const = 0;
  /// Of now, with a row in evolution.csv.
  void begin_record();
  /// No more steps, unless there is something left to move: sets Evolution::ended_by. Collective.
  void look_for_end();

  const JobContext& run_;
  Evolution evolution_;
  EvolutionState state_;
  WallSpeeds now_;
  std::optional<WallMotion> motion_;

 private:
  EvolutionLine line();
  /// Of pieces now or, where walls have just moved, that they had before [h0/s].
  const WallRows& speeds() const { return now_.speed.empty() ? state_.before : now_.speed; }
  double value_of_end(const EvolutionLine& line) const;  ///< that walls.until looks at
  /// Of the last step, also where walls have moved since: [mineral] [h0³/s]. Collective.
  std::vector<double> rates_of_step() const;
  double largest_speed_of_step() const {
    return now_.speed.empty() ? largest_speed_before_ : now_.largest;
  }  ///< [h0/s]
  // Where walls have just moved, of the step before.
  std::vector<double> rates_before_;
  double largest_speed_before_ = 0.0;
  void add_frame(bool last);
  WallEvents events_;
  Recorder recorder_;
};

std::unique_ptr<Process> start_quasi_steady_walls(const JobContext& context);
std::unique_ptr<Process> start_walls_in_time(const JobContext& context);

/// Whether a pore leads along any of the axes of the flow. Not collective.
bool flow_percolates(const JobContext& run);

/// As the deck asks, for one position of the walls of many; fields for the pictures of the last one. Not collective.
Config config_of_step(const Config& config);

/// Does those that the deck asks for, one after the other, on the ground of now: without files, estimates of errors and
/// progress of their own. Throws Error. Collective.
/// @param[out] exchanges  gets what they give: flow, wall rates
std::vector<JobResult> steady_results(const JobContext& run, std::span<const Job> jobs, Exchanges& exchanges);

// Pictures of walls that move, at several times or moving (walls.animation): the fluid in the plane through the middle,
// with what of it was solid at the beginning, and, where transport is steady in each position of the walls, the
// concentrations there.

/// The last step of the recorder, if it is one of those that are kept. Collective.
/// @param of_jobs  fields of steady states on the ground of now
/// @param last     kept in any case
void add_wall_frame(const JobContext& run, const std::vector<JobComponent>& of_jobs, bool last, Recorder& recorder);

/// Files and figures. Collective.
void leave_wall_animations(const JobContext& run, const Recorder& recorder, JobResult& result);

/// Their cards on the page.
std::vector<std::string> wall_picture_cards(const Json& summary, const Figures& figures);

}  // namespace karst
