// SPDX-License-Identifier: BSD-3-Clause
#include "app/slurm_script.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace karst {

namespace {

/// As one word of a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string slurm_script(const BatchJob& job) {
  const int cores = std::max(job.threads, 1);
  std::string text = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --ntasks={}\n#SBATCH --cpus-per-task={}\n#SBATCH --chdir={}\n"
      "#SBATCH --output={}\n"
      "# Each rank on neighbouring cores of its own; srun does not take --cpus-per-task from sbatch everywhere.\n"
      "export OMP_PLACES=cores OMP_PROC_BIND=close\nexec srun --ntasks={} --cpus-per-task={} --cpu-bind=cores",
      job.name, job.ranks, cores, job.directory, job.log, job.ranks, cores);
  for (const std::string& word : job.command) text += " \\\n  " + quoted(word);
  return text + '\n';
}

std::string submit_script(const std::vector<std::string>& scripts) {
  std::string text =
      "#!/bin/bash\n# What is given to this script goes to each sbatch: --account=NAME --partition=NAME "
      "--time=01:00:00\n"
      "set -e\n";
  for (const std::string& script : scripts) text += fmt::format("sbatch \"$@\" {}\n", quoted(script));
  return text;
}

}  // namespace karst
