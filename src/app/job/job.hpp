// SPDX-License-Identifier: BSD-3-Clause
// What `karst run` computes: jobs in order, some of them together through time, on a ground that may be exchanged
// (change_ground.hpp, move_walls.hpp). A job is a row of jobs(): functions that say whether a deck asks for it, what is
// wrong before anything is solved, and what came out.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/deck/clock.hpp"
#include "app/deck/config.hpp"
#include "app/deck/source.hpp"
#include "app/deck/statistics.hpp"
#include "app/job/job_cost.hpp"
#include "base/comm/comm.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "fields/ground.hpp"
#include "fields/state.hpp"
#include "grid/asked_boxes.hpp"
#include "grid/box_costs.hpp"
#include "page/run_page.hpp"

namespace karst {

class Recorder;
struct FieldView;
struct RunServices;
struct MovingWalls;
struct WallMotion;
enum class ExchangeName : std::uint8_t;

/// The sample where the domain of a run is the sample with reservoirs (decision 054).
/// Places of the deck are in it; porosity, permeability and pore volume are of it.
struct Sample {
  GridOptions grid;       ///< with cells and size
  GeometryReport report;  ///< of the sample alone
  Index before{};         ///< its first cell in the domain
};

/// @param grid, report  of the sample without reservoirs
std::shared_ptr<const Sample> sample_between(const Reservoirs& reservoirs, const GridOptions& grid,
                                             const GeometryReport& report);
/// The domain, for the terminal.
std::string reservoirs_text(const Sample& sample, const GridOptions& domain, const GeometryStatistics& of_domain);

/// What jobs work on.
struct JobContext {
  const Comm& comm;
  const Config& config;
  const GridOptions& grid;  ///< of the domain, with cells and size
  std::shared_ptr<const Ground> ground;
  RunServices& services;                          ///< what the run does for them
  std::function<Source(const Variant&)> again{};  ///< the same sample otherwise; collective
  double wall_uncertainty = 0.0;                  ///< ImportFindings::wall_uncertainty
  std::shared_ptr<const Sample> sample{};         ///< none: it is all of the domain
  /// The same domain and walls on the boxes of a grid, dealt out by their costs, and on it what the run has of jobs
  /// that are done; collective.
  std::function<std::shared_ptr<const Ground>(const GridOptions&, const BoxCosts&)> make_ground{};
  std::shared_ptr<MovingWalls> walls{};  ///< where they are now, of which make_ground() makes grounds; none: they stand

  const Geometry& geometry() const { return ground->geometry(); }
  const std::optional<FlaggedBoxes>& flagged() const { return geometry().grid.flagged; }
  const GridOptions& sample_grid() const { return sample ? sample->grid : grid; }
  const GeometryReport& sample_report() const { return sample ? sample->report : geometry().report; }
  /// The low corner of the sample, from that of the domain [cells].
  Vec3 sample_low() const { return to_vec(sample ? sample->before : Index{}); }
};

/// One linear solve, for summary.json and the log.
struct SolveRow {
  std::string name, method, preconditioner;
  int iterations = 0;
  double relative_residual = 0.0;
  double setup_seconds = 0.0, seconds = 0.0;  ///< of the slowest rank
};

/// What must be equal and how far it is not, relative.
struct Balance {
  std::string name;  ///< key in summary.json
  double relative = 0.0;
};

/// One component of the plotfile; see PlotDescription::fill. Those of a vector stand in a row, named _x, _y and _z.
/// NaN in cells without a value.
struct JobComponent {
  PlotField field;  ///< what output.plot must name
  std::string name;
  std::function<void(int level, std::int64_t box, std::span<float> cells)> fill;  ///< of an own box
  std::shared_ptr<const Ground> ground;                                           ///< whose boxes it fills
};

/// Without those that output.plot does not name.
std::vector<JobComponent> asked_of(const Config& config, std::vector<JobComponent> components);

/// A file of results beside those that every run leaves.
struct JobFile {
  std::string name, use;
};

struct JobResult {
  std::string text;      ///< for terminal and log
  std::string headline;  ///< what the user came for, in a few lines: said last
  Json json;             ///< an object, whose members become members of summary.json
  std::vector<SolveRow> solves;
  std::vector<Balance> balances;
  Messages warnings;
  std::vector<JobComponent> components;  ///< of asked fields; keep what they show
  double time = 0.0;                     ///< of the components [s]; 0: of a steady state
  std::vector<JobFile> files;            ///< written already
  Figures figures;                       ///< what draw() made of its fields; on rank 0 alone
};

/// A run in time cannot go on, from a state that is worth leaving. On all ranks.
class CannotGoOn : public Error {
 public:
  using Error::Error;
};
/// A step in time could not be made; a shorter one may be possible. On all ranks.
class StepFailed : public Error {
 public:
  using Error::Error;
};

/// A job under way: what the main loop does with it (simulation.hpp). It is made on a ground, and then begins, or goes
/// on from the state of such a process. A step is tried by all that go through time together: either all have made it,
/// accept it and record it, or all go back and try a shorter one (make_step(), decision 056). All are collective.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  virtual ~Process() = default;
  /// From the first state, which the deck describes.
  virtual void begin() {}
  /// All that its steps and results look back on, beside what it records. Values may stand in the process until its
  /// next step.
  virtual State state() { return {}; }
  /// In place of begin(). Throws the same Error on all ranks.
  virtual void go_on(const State&) {}
  /// What its state depends on (SolveStore::dependencies()).
  virtual std::string dependencies() const { return {}; }
  /// Of its steps; nullptr: it does not go through time.
  virtual Recorder* recorder() { return nullptr; }
  /// At time 0, after begin() or go_on().
  virtual Clock clock() const { return {}; }
  /// No step from here on is longer [s].
  virtual double longest_step() { return std::numeric_limits<double>::infinity(); }
  /// Tries a step. Throws StepFailed where a shorter one may be possible.
  /// @param dt  [s]; 0 where there is no time
  virtual void step(double dt) = 0;
  /// All have made the step, which stays from here on.
  virtual void accept() {}
  /// After a step that all have accepted: how walls are to move now; nullptr: they stay. All processes are made again
  /// then, on the ground that follows (move_walls.hpp).
  /// @param longest  time that may pass over it without a step, where that is asked for [s]
  virtual const WallMotion* wall_motion(double longest) {
    (void)longest;
    return nullptr;
  }
  /// Walls are going to move. Meanwhile a time passes without a step, as everything stands still [s]; 0: none does.
  virtual void skip(double time) { (void)time; }
  /// In place of accept(), whether step() made its step or threw: all that later steps, outputs and results look back
  /// on is as before step(), to the bit.
  virtual void go_back() {}
  /// Why no step follows though the time is not over; empty: one does.
  virtual std::string ends_early() const { return {}; }
  /// After each step that was accepted: a line of a history.
  virtual void record(const Clock&) {}
  /// At output times, whose number from 1 is Clock::outputs(): what it writes and draws beside plotfiles.
  virtual void at_output(const Clock&) {}
  /// What plotfiles hold of it now.
  virtual std::vector<JobComponent> fields() { return {}; }
  /// Whether a box is missing that a place to be followed asks for by what it computes.
  /// @param[out] boxes  gets, on some ranks, all boxes that it asks for, with its margin; nullptr: they are not wanted
  virtual bool flag(const Refinement&, AskedBoxes* boxes) {
    (void)boxes;
    return false;
  }
  /// After the step of a steady process: boxes of the grid on which it is to be done again, in place of those flagged
  /// now; none: it has its result. The same on every rank.
  virtual std::optional<FlaggedBoxes> finer_grid() { return {}; }
  /// Adds kinds of work beside that on cells, with amounts of its last step and the seconds since it began. Always the
  /// same kinds. Not collective.
  virtual void add_work(std::vector<BoxWork>&) const {}
  /// Time of a step for an irregular cell over that for a cell away from the wall (decision 041).
  virtual double irregular_cost() const { return 2.0; }
  virtual JobResult report() = 0;
};

struct Job {
  JobWord word;  ///< its name, and how a deck asks for it
  /// Before any job runs; all mistakes of all jobs are shown together. The same on every rank. Not collective.
  std::vector<std::string> (*mistakes)(const JobContext&);
  /// A process that is to begin, or to go on. Throws Error. Collective; a PetscSession and the context live until it
  /// has gone.
  std::unique_ptr<Process> (*start)(const JobContext&);
  /// Adds pictures of its fields, which may come from a plotfile, to the figures; report() has done so already.
  /// Collective.
  /// @param summary  summary.json, or the part that report() made
  void (*draw)(const Comm&, const Json& summary, const FieldView&, Figures&) = [](const Comm&, const Json&,
                                                                                  const FieldView&, Figures&) {};
  /// Its part of report.html; empty when the summary holds no results of it. Not collective.
  PagePart (*page)(const Json& summary, const Figures&);
  JobCost cost;
  /// Its solves take the options of --petsc that begin with its name.
  bool (*through_petsc)(const Config&) = [](const Config&) { return false; };
  bool (*in_time)(const Config&) = [](const Config&) { return false; };  ///< it goes through time, step by step
  /// What other jobs may take of it, and what it takes of others, by name (exchange.hpp).
  std::vector<ExchangeName> gives{};
  std::vector<ExchangeName> (*takes)(const Config&) = [](const Config&) { return std::vector<ExchangeName>(); };
  /// Jobs that are done for it again and again, where the deck asks for them, too.
  std::vector<std::string_view> (*does)(const Config&) = [](const Config&) { return std::vector<std::string_view>(); };
};

/// Each behind those that it takes something of, else as they come; those that go through time together in a row.
/// Throws Error where jobs wait for one another.
std::vector<Job> in_order(std::vector<Job> jobs, const Config& config);
/// So many of jobs in order, from the first one on, go through time together: each takes what another one gives step by
/// step. The first has the clock.
std::size_t n_together(std::span<const Job> jobs, const Config& config);
/// All that any of them takes.
std::vector<ExchangeName> taken_by(std::span<const Job> jobs, const Config& config);
/// A sentence for each thing that one of them takes and none gives.
std::vector<std::string> not_given(std::span<const Job> jobs, const Config& config);

/// All jobs.
std::span<const Job> jobs();
/// Those a deck asks for, in the order in which they run. Throws Error when there is none, saying what to write.
std::vector<Job> asked_jobs(const Config& config);

/// Components of the plotfile that these jobs leave. Not collective.
int n_plotted(const Config& config, std::span<const Job> jobs);

/// Throws Error with the mistakes of all jobs that the deck asks for, also where one takes what none gives. The same on
/// every rank. Collective.
void check_jobs(const JobContext& context);

/// A sentence for each axis that a job asks for and along which no pore leads: what it computes is 0 there. The same on
/// every rank. Not collective.
std::vector<std::string> axes_without_path(const Config& config, const Geometry& geometry);

/// A steady job: one step, which does all.
/// @param run  throws Error; collective
std::unique_ptr<Process> one_step(const JobContext& context, JobResult (*run)(const JobContext&));

// The jobs, one .cpp file each.
Job flow_job();
Job dynamic_job();
Job diffusion_job();
Job dispersion_job();
Job transport_job();
Job walls_job();

}  // namespace karst
