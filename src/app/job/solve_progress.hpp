// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/job/run_services.hpp"
#include "solvers/krylov/krylov.hpp"

namespace karst {

inline constexpr const char* flow_preconditioner = "graph multigrid, local permeability";

/// Of a solve whose result has these numbers.
template <class Result>
SolveReport solve_report(const std::string& name, const char* method, const char* preconditioner, const Result& of) {
  SolveReport solve{name, method, preconditioner, of.iterations, {}, of.relative_residual};
  solve.seconds = of.seconds;
  if constexpr (requires { of.setup_seconds; }) solve.setup_seconds = of.setup_seconds;
  return solve;
}

/// Tells of the solves of a job while they run: each is a part of the progress of the run, with its residual, and a
/// line of the log at its end. Collective.
class SolveProgress {
 public:
  /// @param job  its name, the stage of the run
  SolveProgress(const JobContext& run, std::string job, double tolerance)
      : comm_(run.comm),
        progress_(run.services.progress),
        job_(std::move(job)),
        tolerance_(tolerance),
        in_a_step_(run.services.solves_in_a_step) {}
  /// Throws EarlyEnd on all ranks when the run is asked to end.
  /// @param more  said behind the residual; may be empty
  void iteration(const std::string& solve, int iteration, double residual, const std::string& more = {});
  /// One more solve is done: its row, times of the slowest rank.
  void solved(const SolveReport& solve);
  /// The same of a solve that an earlier run has finished; its times are those it took then.
  void read(const SolveReport& solve);
  bool has_told(const std::string& solve) const { return std::ranges::count(rows_, solve, &SolveRow::name) > 0; }
  const std::vector<SolveRow>& rows() const { return rows_; }

 private:
  const SolveRow& add(const SolveReport& solve);

  const Comm& comm_;
  RunProgress& progress_;
  std::string job_;
  double tolerance_;
  bool in_a_step_;
  std::vector<SolveRow> rows_;
};

}  // namespace karst
