// SPDX-License-Identifier: BSD-3-Clause
// `karst variation`: the runs are cases of a study that are all the same.
#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "app/deck/session.hpp"
#include "app/study/study.hpp"
#include "app/study/study_runs.hpp"
#include "app/study/variation.hpp"
#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"
#include "base/file/run_guarded.hpp"
#include "io/publication.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

Study runs_of(const CommandLine& line) {
  Study study{"", line.deck, {}, {}};
  for (int i = 1; i <= line.runs; ++i) {
    StudyCase& c = study.cases.emplace_back();
    c.name = fmt::format("run_{:03}", i);
    c.overrides = line.overrides;
    c.ranks = line.ranks;
    c.threads = line.threads;
  }
  return study;
}

/// Beside the results that a run of the deck would leave.
std::string usual_folder(const Config& config) {
  fs::path folder = fs::path(config.output.directory).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.string() + "_variation";
}

Json timers_of(const std::string& folder) {
  const std::string path = folder + "/timers.json";
  Json timers = Json::of_file(path);
  require(timers.is_object() && timers.contains("timers"),
          "{}: contains no timers, which every run writes; --overwrite reruns the deck", path);
  return timers;
}

}  // namespace

void variation_command(const Comm& comm, const CommandLine& line) {
  require(comm.size() == 1, "karst variation starts its runs itself: omit mpirun, and give --ranks {}", comm.size());
  require(!stands_for_deck(line.deck), "{}: is an image; expected: a deck, which karst init --image {} writes",
          line.deck, line.deck);
  Reader in = Reader::from_file(line.deck, line.overrides);
  const Config config = read_config(in);
  in.finish();
  StepRange steps{1, std::numeric_limits<std::int64_t>::max() - 1};
  if (!line.steps.empty()) steps = read_steps("--steps", line.steps, config);
  const std::string folder = line.out.empty() ? usual_folder(config) : line.out;
  const Study study = runs_of(line);
  StudyRuns runs(comm, line, study, folder, {.go_on = false, .past_failures = false});
  runs.require_no_others();
  make_study_folder(folder);
  const DirectoryLock lock(folder);
  log_info("{} runs of {}\n", line.runs, line.deck);
  const OrderlyEnd orderly(comm, 0.0);
  try {
    runs.run();
  } catch (const EarlyEnd& end) {
    log_warn("{}; the same command runs the missing ones", end.reason);
    throw ExitStatus{end.status};
  }
  std::vector<Json> timers;
  for (std::size_t i = 0; i < runs.rows().size(); ++i) timers.push_back(timers_of(runs.folder_of(i)));
  const Variation variation = variation_of(timers, steps);
  write_file(comm, folder + "/variation.json", variation_json(variation));
  log_info("\n{}\nNumbers for programs: {}/variation.json", variation_text(variation), folder);
}

}  // namespace karst
