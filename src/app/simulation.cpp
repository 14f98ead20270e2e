// SPDX-License-Identifier: BSD-3-Clause
#include "app/simulation.hpp"

#include <fmt/format.h>

#include "app/run_progress.hpp"
#include "app/session.hpp"
#include "base/orderly_end.hpp"

namespace karst {

namespace {

constexpr int most_halvings = 3;     ///< of a step that fails
constexpr double round_off = 1e-12;  ///< of times that are sums of steps, relative

void make_step(Process& process, Clock& clock) {
  clock.limit(process.longest_step());
  for (int halvings = 0;; ++halvings) try {
      return process.step(clock.dt());
    } catch (const StepFailed& e) {  // on all ranks
      if (halvings == most_halvings)
        throw StepFailed(fmt::format("the step after t = {:g} s failed, also with a length of {:g} s: {}", clock.time(),
                                     clock.dt(), e.what()));
      clock.limit(0.5 * clock.dt());
    }
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

/// Ends here when the run is asked to, with its state kept.
void end_or_keep(const JobContext& context, Process& process, const Clock& clock, Checkpoints& checkpoints) {
  try {
    end_if_asked(context.comm);
  } catch (const EarlyEnd&) {  // on all ranks
    process.keep(clock);
    throw;
  }
  if (!clock.done() && checkpoints.due(context.comm, clock.time())) process.keep(clock);
}

}  // namespace

void Simulation::run(const std::function<void(JobResult)>& done) {
  for (const Job& job : jobs_) {
    if (context_->progress != nullptr)
      context_->progress->begin(std::string(job.name), fmt::format("{}: set-up", job.name));
    const std::unique_ptr<Process> process = job.start(*context_);
    Clock clock = process->clock();
    Checkpoints checkpoints(context_->config.checkpoint, clock.time());
    try {
      while (!clock.done()) {
        make_step(*process, clock);
        clock.advance();
        process->record(clock);
        if (clock.output_due()) process->write_output(clock);
        end_or_keep(*context_, *process, clock, checkpoints);
      }
    } catch (const EarlyEnd&) {  // on all ranks
      process->leave();
      throw;
    } catch (const StepFailed&) {  // likewise
      process->leave();
      throw;
    }
    done(process->report());
  }
}

JobResult run_job(const Job& job, const JobContext& context) {
  JobResult result;
  Simulation(context, {&job, 1}).run([&](JobResult of_job) { result = std::move(of_job); });
  return result;
}

}  // namespace karst
