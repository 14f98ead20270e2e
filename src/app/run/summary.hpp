// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/deck/statistics.hpp"
#include "app/job/communication.hpp"
#include "app/job/job.hpp"
#include "app/job/solve_store.hpp"
#include "app/job/step_times.hpp"
#include "base/comm/memory.hpp"

namespace karst {

/// Bytes of a run over all ranks.
struct MemoryUse {
  std::int64_t peak = 0;                              ///< Σ over ranks of the peak resident set
  std::int64_t largest_rank = 0;                      ///< largest of them
  std::array<std::int64_t, n_purposes> by_purpose{};  ///< Σ over ranks of the arena's peak, by Purpose
};
/// Collective; the same on every rank.
MemoryUse measure_memory(const Comm& comm);

struct Summary {
  std::string status = "completed";            ///< "failed", "interrupted"
  std::string reason;                          ///< of another status
  std::vector<FinishedSolve> finished;         ///< of another status
  std::string deck;                            ///< as named on the command line
  std::string plotfile;                        ///< its name in the run directory
  GeometryStatistics geometry;                 ///< of the sample
  std::optional<GeometryStatistics> domain{};  ///< of the run, where it is the sample with reservoirs
  RunSeconds seconds;
  MemoryUse memory;
  Communication communication;
  StepSeconds steps;  ///< none: no step in time
  PlotSize plot;
  std::vector<std::string> files;  ///< names of all results
  Messages first_warnings;         ///< said first
  Messages warnings;               ///< said at the end
  std::vector<JobResult> jobs;     ///< what `karst run` did; empty: another command
  int solves_read = 0;             ///< of them, finished by the run that this one goes on from
  Json balance;                    ///< FeedbackBalance::json(); null: no feedback
  Json followed;                   ///< FollowedGrid::json(); null: the grid stays
};
/// Statistics of what the jobs compute on.
inline const GeometryStatistics& domain_of(const Summary& summary) {
  return summary.domain ? *summary.domain : summary.geometry;
}

/// summary.json: sizes in bytes, times in seconds, lengths in metres.
Json summary_json(const Summary& summary);

}  // namespace karst
