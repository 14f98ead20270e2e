// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: one file per instant, with the boxes that are flagged beside those of the deck, the states of all jobs
// that go through time together, their histories and their clock (decision 055).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"

namespace karst {

/// Jobs that go through time together (n_together()): the first, which has the clock, and those behind it.
using Together = std::vector<std::unique_ptr<Process>>;

/// An instant of them.
struct Checkpoint {
  struct Part {
    std::string process, depends_on;
    Json recorded;  ///< Recorder::json()
    State state;
  };
  std::vector<double> clock;  ///< Clock::state()
  std::vector<Part> parts;
  bool from_disk = false;  ///< with what histories and plotfiles were
};

/// Writes one, as far as the run keeps what it solves. False: it could not. Collective.
bool save_checkpoint(const JobContext& context, const Together& jobs, const Clock& clock);

/// One in memory. It belongs to none of the processes, which end here: their histories are closed. Collective.
Checkpoint take_checkpoint(const JobContext& context, const Together& jobs, const Clock& clock);

/// Makes the processes of jobs and begins them, or goes on: from this checkpoint or, where it is empty, from the last
/// whole one of an earlier run that fits. Throws Error where a part of that is of other input. Collective.
/// @param[in,out] context  gets the ground of an earlier run's checkpoint
/// @param jobs  that go through time together, or a steady one
/// @param[in,out] from  without states then
Together begin_together(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from);

}  // namespace karst
