// SPDX-License-Identifier: BSD-3-Clause
// Batch scripts for SLURM, for studies on a cluster.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct BatchJob {
  std::string name;
  int ranks = 1, threads = 0;        ///< threads of a rank; 0: the program chooses, on one core
  std::vector<std::string> command;  ///< of one rank
  std::string directory, log;        ///< where it runs; file; both in full
};

/// The script of one job. What only the user knows of the cluster (account, partition, time limit) comes with sbatch.
std::string slurm_script(const BatchJob& job);
/// Hands in the scripts one after the other; its own arguments go to each sbatch.
/// @param scripts  files, in full
std::string submit_script(const std::vector<std::string>& scripts);

}  // namespace karst
