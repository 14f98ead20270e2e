// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "app/deck/session.hpp"
#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/output/slices.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/follow.hpp"
#include "app/run/move_walls.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"

namespace karst {

namespace {

constexpr double round_off = 1e-12;  ///< of times that are sums of steps, relative

std::vector<JobComponent> fields_of_all(const Together& jobs) {
  std::vector<JobComponent> all;
  for (const auto& job : jobs) std::ranges::move(job->fields(), std::back_inserter(all));
  return all;
}

/// After a step: what is due of plotfiles and slices.
void write_outputs(const JobContext& context, const Together& jobs, const Clock& clock) {
  FilesInTime& files = jobs.front()->recorder()->files();
  if (clock.output_due()) {
    for (const auto& job : jobs) job->at_output(clock);
    if (context.services.files.plotted()) write_output(context, files, clock.time(), fields_of_all(jobs));
  }
  write_slices(context, files, clock.time(), [&] { return fields_of_all(jobs); });
}

/// Histories, outputs and the last state of jobs that end early.
void leave_all(const JobContext& context, const Together& jobs, const Clock& clock) {
  if (jobs.empty()) return;  // between two grounds
  for (const auto& job : jobs) {
    job->recorder()->close();
    std::ranges::copy(job->recorder()->files().histories, std::back_inserter(context.services.files.left));
    leave_wall_files(context, job->recorder()->files());
  }
  leave_outputs(context, jobs.front()->recorder()->files(), clock.time(), fields_of_all(jobs));
}

/// When the state of a job is kept, by the deck.
class Checkpoints {
 public:
  /// @param time  at which the job begins or goes on [s]
  Checkpoints(const CheckpointOptions& options, double time) : options_(options), last_time_(time) {}
  /// After a step, at a time [s]. Collective.
  bool due(const Comm& comm, double time) {
    ++steps_;
    const bool by_steps = options_.every_steps > 0 && steps_ >= options_.every_steps;
    const bool by_time = options_.every_time > 0.0 && time - last_time_ >= (1.0 - round_off) * options_.every_time;
    const bool by_clock = options_.every_minutes > 0.0 && since_.seconds() >= 60.0 * options_.every_minutes;
    if (!comm.any(by_steps || by_time || (comm.rank() == 0 && by_clock))) return false;
    steps_ = 0;
    last_time_ = time;
    since_ = {};
    return true;
  }

 private:
  CheckpointOptions options_;
  int steps_ = 0;
  double last_time_;
  WallClock since_;
};

/// Ends here when the run is asked to, with its state kept. Not behind the last step: what is left is to report, and a
/// run that went on from there would have no step to report of.
void end_or_keep(const JobContext& context, const Together& jobs, const Clock& clock, Checkpoints& checkpoints) {
  if (clock.done()) return;
  try {
    end_if_asked(context.comm);
  } catch (const EarlyEnd&) {  // on all ranks
    save_checkpoint(context, jobs, clock);
    throw;
  }
  if (checkpoints.due(context.comm, clock.time())) save_checkpoint(context, jobs, clock);
}

/// After some steps: boxes move to other ranks where that pays.
void balance(JobContext& context, std::span<const Job> rows, Together& jobs, Clock& clock) {
  FeedbackBalance& balance = context.services.balance;
  if (clock.done() || !(balance.begins() || balance.due())) return;
  std::vector<BoxWork> kinds;
  for (const auto& job : jobs) job->add_work(kinds);
  if (balance.begins()) return balance.leave_out(kinds);
  BoxCosts costs;
  const BalanceLook found =
      balance.look(layouts_of(context.geometry()), cell_work(*context.ground, jobs.front()->irregular_cost()), kinds,
                   clock.part(), clock.steps(), costs);
  if (!found.pays) return;
  log_info(
      "Boxes are moved after step {}: the busiest of {} ranks works {:.2f} times as long as the mean, {:.2f} times is "
      "expected afterwards; the geometry is rebuilt, and the state is sent to the new owners",
      found.step, context.comm.size(), found.imbalance, found.expected);
  change_owners(context, rows, costs, jobs, clock);
}

/// @param rows  of the jobs
void go_through_time(JobContext& context, std::span<const Job> rows, Together& jobs, Clock clock) {
  Checkpoints checkpoints(context.config.checkpoint, clock.time());
  RunServices& run = context.services;
  try {
    while (!clock.done()) {
      run.trace.step(clock.steps() + 1);
      run.steps.begin();
      run.balance.begin_step(clock.part());
      make_step(jobs, clock);
      run.balance.end_step();
      clock.advance();
      move_walls(context, rows, jobs, clock);
      for (const auto& job : jobs) job->record(clock);
      for (const auto& job : jobs)
        if (!job->ends_early().empty()) clock.end_now();
      write_outputs(context, jobs, clock);
      follow(context, rows, jobs, clock);
      end_or_keep(context, jobs, clock, checkpoints);
      run.steps.end(clock.steps());
      balance(context, rows, jobs, clock);
    }
  } catch (const EarlyEnd&) {  // on all ranks, as the next
    leave_all(context, jobs, clock);
    throw;
  } catch (const CannotGoOn&) {
    leave_all(context, jobs, clock);
    throw;
  }
}

/// A job that does not go through time.
void do_at_once(const JobContext& context, Process& job) {
  context.services.trace.step(1);
  job.step(0.0);
  end_if_asked(context.comm);
}

}  // namespace

void Simulation::run(const std::function<void(JobResult)>& done) {
  for (auto first = jobs_.begin(); first != jobs_.end();) {
    const auto end = first + n_together({first, jobs_.end()}, context_->config);
    std::optional<Checkpoint> from;
    Together together = begin_on_own_grid(*context_, {first, end}, from);
    if (together.front()->recorder() != nullptr) {
      Clock clock = together.front()->clock();
      if (from) clock.go_on(from->clock);
      go_through_time(*context_, {first, end}, together, clock);
    } else {
      do_at_once(*context_, *together.front());
      while (const std::optional<FlaggedBoxes> finer = together.front()->finer_grid()) {
        together.clear();
        set_levels(*context_, finer);
        together = begin_anew(*context_, {first, end});
        do_at_once(*context_, *together.front());
      }
    }
    for (const auto& process : together) done(process->report());
    first = end;
  }
}

JobResult run_job(const Job& job, JobContext& context) {
  JobResult result;
  Simulation(context, {&job, 1}).run([&](JobResult of_job) { result = std::move(of_job); });
  return result;
}

namespace {

constexpr int most_halvings = 3;  ///< of a step that fails

/// All make a step, or all are as before: then what failed.
std::optional<std::string> try_step(const Together& jobs, double dt) {
  for (std::size_t i = 0; i < jobs.size(); ++i) try {
      jobs[i]->step(dt);
    } catch (const StepFailed& e) {  // on all ranks
      for (std::size_t tried = i + 1; tried > 0; --tried) jobs[tried - 1]->go_back();
      return e.what();
    }
  return {};
}

}  // namespace

void make_step(const Together& jobs, Clock& clock) {
  double longest = std::numeric_limits<double>::infinity();
  for (const auto& job : jobs) longest = std::min(longest, job->longest_step());
  clock.limit(longest);
  for (int halvings = 0;; ++halvings) {
    const std::optional<std::string> failure = try_step(jobs, clock.dt());
    if (!failure) break;
    if (halvings == most_halvings)
      throw CannotGoOn(fmt::format("the step after t = {:g} s failed, also with a length of {:g} s: {}", clock.time(),
                                   clock.dt(), *failure));
    log_info("The step after t = {:g} s is repeated with half its length, {:g} s: {}", clock.time(), 0.5 * clock.dt(),
             *failure);
    clock.limit(0.5 * clock.dt());
  }
  for (const auto& job : jobs) job->accept();
}

}  // namespace karst
