// SPDX-License-Identifier: BSD-3-Clause
// Transport in time as a job under way: steps and histories (transport_in_time.cpp), what is written, drawn, kept and
// told of them (transport_in_time_files.cpp).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/deck/session.hpp"
#include "app/output/probes.hpp"
#include "app/output/vof_values.hpp"
#include "app/reaction/reactive_run.hpp"
#include "app/transport/steady_transport_job.hpp"
#include "app/transport/transport_past.hpp"
#include "app/transport/transport_setup.hpp"
#include "io/field_file.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/scalar_means.hpp"

namespace karst {

class TransportInTime final : public Process {
 public:
  static constexpr const char *csv_name = "transport.csv", *profile_name = "profiles.csv";

  explicit TransportInTime(const JobContext& run);

  Clock clock() const override {
    Clock clock(past_.times);
    clock.advance_to(past_.result.steps);
    return clock;
  }
  void step(double dt) override;
  void record(const Clock& clock) override;
  void at_output(const Clock& clock) override;
  std::vector<JobComponent> fields() override {
    return asked_of(run_.config, components(plots_chemistry() ? Chemistry::included : Chemistry::left_out));
  }
  FilesInTime* files() override { return &past_.files; }
  bool keep(const Clock& clock) override;
  void add_work(std::vector<BoxWork>& kinds) const override;
  double irregular_cost() const override { return 8.0; }
  void leave() override;
  JobResult report() override;

 private:
  void open_files(bool go_on);
  std::string dependencies() const;
  bool resume();
  bool is_total(std::size_t i) const { return chemistry_ && i >= run_.config.reactive->first; }
  bool keeps_flow() const { return flow_.flows && !flow_.in_time; }  ///< the same in all steps
  VofPlaces places() const { return places_of(run_.geometry, joined_->numbering()); }
  void set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial);
  void start_signals();
  void see_outlet(const TransportLine& line);
  FlowContinuity take_flow(FaceField& faces, std::span<const double> potential = {});
  bool begins_with_jump() const;
  void carried_steps(double dt);
  void one_step(double dt);
  void take_line(double part, bool last);
  double pore_volumes(double time) const;
  ComponentLine line_of(std::size_t i, double dt) const;
  TransportLine line_at(double time, double dt) const;
  void follow(const TransportLine& line, double part, bool last);
  void write_profiles(double time);
  bool draws(int number) const;
  void draw_plumes(double time, const std::vector<JobComponent>& fields);
  void draw_frame();
  void leave_animations(JobResult& result);
  enum class Chemistry { left_out, included };  ///< its fields
  std::vector<JobComponent> components(Chemistry chemistry) const;
  bool plots_chemistry() const { return std::ranges::count(run_.config.output.plot, PlotField::chemistry) > 0; }
  std::span<const double> own_values(std::size_t i) const;
  WallMap map_of_wall(std::size_t i) const;
  void finish();
  void add_chemistry_results(JobResult& result);

  const JobContext& run_;
  const TransportDeck& deck_;
  double h_;
  WallClock wall_clock_;
  CarriedBy flow_;
  std::vector<std::vector<ScalarWall>> laws_;  ///< per component and mineral [SI]
  std::optional<TransportStepper> stepper_;
  std::optional<ReactiveRun> chemistry_;
  std::vector<FlowThroughEnd> ends_;
  double rate_in_ = 0.0;           ///< through all ends into the domain [h0³/s]
  bool leaves_by_outlet_ = false;  ///< all that flows out
  double fluid_volume_ = 0.0;      ///< [h0³]
  int outlet_ = -1;                ///< side; -1: the domain is periodic along the axis
  TransportState state_;
  TransportReport report_;
  double n_steps_ = 1.0, setup_seconds_ = 0.0;
  std::shared_ptr<const JoinedCells> joined_;
  Probes probes_;
  TransportPast past_;
  std::string given_;                                  ///< what else answers depend on, lines for dependencies()
  int frames_drawn_ = 0;                               ///< number of the frame to come
  std::vector<WallPlace> places_;                      ///< at the end, with
  std::vector<std::vector<SurfaceLaw>> surface_laws_;  ///< per component and mineral, and
  std::vector<WallMap> maps_;                          ///< per component
  double next_log_ = 0.0;
  GrowingFile csv_, profiles_;  // rank 0
};

}  // namespace karst
