// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/solve_progress.hpp"

#include <cmath>

#include "base/core/format.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"

namespace karst {

void SolveProgress::iteration(const std::string& solve, int iteration, double residual, const std::string& more) {
  if (!in_a_step_) end_if_asked(comm_);
  constexpr double set_up = 0.3;  // its part of the time of a solve
  // Residuals fall about evenly on a logarithmic scale.
  const double part = residual > 0.0 ? std::log(residual) / std::log(tolerance_) : 1.0;
  progress_.tell(set_up + (1.0 - set_up) * std::clamp(part, 0.0, 1.0), solve,
                 fmt::format("iteration {}, residual {:.1e}{}{}", iteration, residual, more.empty() ? "" : ", ", more));
}

const SolveRow& SolveProgress::add(const SolveReport& solve) {
  progress_.begin(job_, job_ + ": set-up");
  rows_.push_back({solve.name, solve.method, solve.preconditioner, solve.iterations, solve.true_residual,
                   comm_.max(solve.setup_seconds), comm_.max(solve.seconds)});
  return rows_.back();
}

void SolveProgress::solved(const SolveReport& solve) {
  const SolveRow& row = add(solve);
  const bool shares = row.setup_seconds == 0.0;  // the set-up of a solve before it
  log_detail("{}{}: {} iterations, residual {:.1e}, {}{}", in_a_step_ ? "  " : "", row.name, row.iterations,
             row.relative_residual, format_seconds(row.seconds),
             shares ? "" : fmt::format(" (set-up {})", format_seconds(row.setup_seconds)));
}

void SolveProgress::read(const SolveReport& solve) {
  const SolveRow& row = add(solve);
  log_info("{}: from the earlier run ({} iterations, residual {:.1e})", row.name, row.iterations,
           row.relative_residual);
}

}  // namespace karst
