// SPDX-License-Identifier: BSD-3-Clause
// The main loop of `karst run`.
#pragma once

#include <functional>
#include <span>

#include "app/deck/clock.hpp"
#include "app/job/job.hpp"
#include "app/run/checkpoint.hpp"

namespace karst {

/// Takes the jobs of a run through their time, one after the other, so that the memory of one is free before the next
/// begins; those that take of others what these give step by step go through time with them (n_together()). Steady jobs
/// have one step.
class Simulation {
 public:
  /// Context and jobs must outlive it. The ground of the context is another one after boxes have moved.
  Simulation(JobContext& context, std::span<const Job> jobs) : context_(&context), jobs_(jobs) {}

  /// Throws EarlyEnd on all ranks where the run is asked to end, after the job has left what it has. Collective.
  /// @param done  takes the result of each job
  void run(const std::function<void(JobResult)>& done);

 private:
  JobContext* context_;
  std::span<const Job> jobs_;
};

/// A job from start to end. Collective.
JobResult run_job(const Job& job, JobContext& context);

/// All try the next step of the clock, as long as all of them allow; where one fails all go back, and try half of it,
/// three times at most. The step that all have made, clock.dt() long, is accepted, and remains to be recorded. Throws
/// CannotGoOn, with all as before the step: the shortest one failed, too. Collective.
void make_step(const Together& jobs, Clock& clock);

}  // namespace karst
