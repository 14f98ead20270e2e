// SPDX-License-Identifier: BSD-3-Clause
// How a case of a study is started: here, by mpirun, or by SLURM on a cluster.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct CaseRun {
  std::string name;
  int ranks = 1, threads = 0;    ///< threads of a rank; 0: the program chooses
  bool more_than_cores = false;  ///< more ranks than cores are asked for on purpose
  /// What ranks are bound to: none, core (each to as many as it has threads), numa, socket; empty: nothing here, cores
  /// under SLURM.
  std::string bind;
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::vector<std::string> command;      ///< of one rank
  std::string directory, log;            ///< where it runs; file; both in full
  std::string note;                      ///< file that takes settings_of() when it has ended well, in full
};

/// What its results do not tell of how it ran: bind and environment, in words; empty: neither is set.
std::string settings_of(const CaseRun& run);

/// Program and arguments.
std::vector<std::string> command_here(const CaseRun& run);
/// A batch script. What only the user knows of the cluster (account, partition, time limit) comes with sbatch. Throws
/// Error for a path that its directives cannot hold.
std::string slurm_script(const CaseRun& run);
/// Hands in the scripts one after the other; its own arguments go to each sbatch.
/// @param scripts  files, in full
std::string submit_script(const std::vector<std::string>& scripts);

}  // namespace karst
