// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "base/log.hpp"
#include "solvers/krylov.hpp"

namespace karst {

/// Tells of the solves of a job while they run: a progress line with residual and time left, and a line at the end of
/// each. Only solved() and read() are collective.
class SolveProgress {
 public:
  SolveProgress(const Comm& comm, double tolerance) : comm_(comm), tolerance_(tolerance) {}
  /// @param more  said behind the residual; may be empty
  void iteration(const std::string& solve, int iteration, double residual, const std::string& more = {});
  /// One more solve is done: its row, times of the slowest rank. Collective.
  void solved(const SolveReport& solve);
  /// The same of a solve that an earlier run has finished; its times are those it took then. Collective.
  void read(const SolveReport& solve);
  const std::vector<SolveRow>& rows() const { return rows_; }

 private:
  const SolveRow& add(const SolveReport& solve);

  const Comm& comm_;
  double tolerance_;
  std::optional<Progress> line_;
  std::string name_;
  std::vector<SolveRow> rows_;
};

}  // namespace karst
