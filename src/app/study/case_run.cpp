// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/deck/deck_echo.hpp"

namespace karst {

namespace {

/// As one word of a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// As the value of a directive, which sbatch reads as a line of words: quotes group them, \ takes the meaning off the
/// letter behind it (sbatch(1)). What no line of words holds is an Error: the line after it would be a command.
std::string in_directive(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\',
            "{}: a path with a line break, another control character or a \\ cannot be given to sbatch; rename the "
            "directory",
            toml_text(path));
    if (c == '"') text += '\\';
    text += c;
  }
  return text + '"';
}

/// As the name of a file, in which % stands for numbers of the job.
std::string file_in_directive(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return in_directive(text);
}

/// The program of one rank, with its environment set.
std::vector<std::string> program_of(const CaseRun& run) {
  std::vector<std::string> words;
  if (!run.environment.empty()) words.emplace_back("env");
  words.insert(words.end(), run.environment.begin(), run.environment.end());
  words.insert(words.end(), run.command.begin(), run.command.end());
  return words;
}

int cores_of(const CaseRun& run) { return std::max(run.threads, 1); }

/// As srun names what ranks are bound to.
std::string slurm_bind(const std::string& bind) {
  if (bind == "none" || bind.empty()) return bind.empty() ? "cores" : "none";
  return bind == "numa" ? "ldoms" : bind + "s";
}

}  // namespace

std::string settings_of(const CaseRun& run) {
  std::vector<std::string> words = run.environment;
  if (!run.bind.empty()) words.push_back("bound to " + run.bind);
  return join(words, "\n");
}

std::vector<std::string> command_here(const CaseRun& run) {
  std::vector<std::string> words;
  const bool free = run.bind.empty() || run.bind == "none";
  if (run.ranks > 1 || !run.bind.empty()) {
    words = {"mpirun", "-n", fmt::format("{}", run.ranks), "--bind-to", free ? "none" : run.bind};
    if (!free) {
      words.emplace_back("--map-by");
      words.push_back(run.bind == "core" ? fmt::format("slot:PE={}", cores_of(run)) : run.bind);
    }
    if (run.more_than_cores && free) words.emplace_back("--oversubscribe");
  }
  const std::vector<std::string> program = program_of(run);
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::string slurm_script(const CaseRun& run) {
  std::string text = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --ntasks={}\n#SBATCH --cpus-per-task={}\n#SBATCH --chdir={}\n"
      "#SBATCH --output={}\n"
      "# Threads on neighbouring cores; srun does not take --cpus-per-task from sbatch everywhere.\n"
      "export OMP_PLACES=cores OMP_PROC_BIND=close\nsrun --ntasks={} --cpus-per-task={} --cpu-bind={}",
      in_directive(run.name), run.ranks, cores_of(run), in_directive(run.directory), file_in_directive(run.log),
      run.ranks, cores_of(run), slurm_bind(run.bind));
  for (const std::string& word : program_of(run)) text += " \\\n  " + quoted(word);
  if (const std::string settings = settings_of(run); !settings.empty())
    text += fmt::format(" &&\n  printf %s {} > {}", quoted(settings), quoted(run.note));
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
