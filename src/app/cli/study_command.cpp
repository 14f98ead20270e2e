// SPDX-License-Identifier: BSD-3-Clause
// `karst study`: cases that ended early go on, the others are run though some fail; then a table and a page of all.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/study/study.hpp"
#include "app/study/study_runs.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"
#include "base/file/run_guarded.hpp"
#include "io/publication.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A batch script for each case that is not completed, and one that hands them in: its name, or nothing where all are
/// completed.
std::optional<std::string> write_batch_scripts(const Comm& comm, const StudyRuns& runs, const std::string& folder) {
  std::vector<std::string> scripts;
  for (std::size_t i = 0; i < runs.rows().size(); ++i) {
    if (runs.is_there(i)) continue;
    scripts.push_back(fs::absolute(runs.folder_of(i)).string() + ".sbatch");
    write_file(comm, scripts.back(), slurm_script(runs.run_of(i)));
  }
  const std::string submit = folder + "/submit.sh";
  if (scripts.empty()) {
    fs::remove(submit);
    return {};
  }
  write_file(comm, submit, submit_script(scripts));
  return submit;
}

/// Writes table and page of what the runs gave.
/// @param table       rows and columns are filled
/// @param scaling_of  the time whose speed-up is told; empty: none
void leave(const Comm& comm, const StudyRuns& runs, const std::string& folder, const std::string& scaling_of,
           StudyTable& table) {
  table.rows = runs.rows();
  for (const std::string& note : empty_columns(table.columns, runs.summaries())) {
    log_warn("{}", note);
    table.study.notes.push_back(note);
  }
  table.columns = columns_of(table.columns, runs.summaries());
  std::vector<std::string> wanted = table.columns;
  if (!scaling_of.empty()) wanted.push_back(scaling_of);
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const std::string& column : wanted) table.rows[i].of[column] = number_at(runs.summaries()[i], column);
  if (!scaling_of.empty()) add_scaling(table, scaling_of);
  write_file(comm, folder + "/study.csv", study_csv(table));
  write_file(comm, folder + "/study.json", study_json(table));
  write_file(comm, folder + "/study.html", study_page(table));
}

/// The cases, and what they set.
std::string list_text(const Study& study) {
  std::string text =
      fmt::format("{} case{} of {}\n", study.cases.size(), study.cases.size() == 1 ? "" : "s", study.deck);
  for (const StudyCase& c : study.cases) {
    std::vector<std::string> set = c.overrides;
    set.insert(set.end(), c.environment.begin(), c.environment.end());
    if (c.ranks > 0) set.push_back(fmt::format("{} ranks", c.ranks));
    if (c.threads > 0) set.push_back(fmt::format("{} threads", c.threads));
    if (!c.bind.empty()) set.push_back("bound to " + c.bind);
    text += fmt::format("  {}  {}\n", c.name, join(set, "  "));
  }
  return text;
}

}  // namespace

void study_command(const Comm& comm, const CommandLine& line) {
  require(comm.size() == 1, "karst study starts its runs itself: omit mpirun, and give --ranks {}", comm.size());
  Reader in = Reader::from_file(line.deck);
  StudyOptions options;
  read(in, options);
  in.finish();
  StudyTable table{make_study(options, in.directory(), line.overrides), options.columns, {}};
  for (const std::string& note : table.study.notes) log_warn("{}", note);
  if (line.list) return log_info("{}", list_text(table.study));
  const std::string folder = line.out.empty() ? options.directory : line.out;
  const bool scaling = !options.ranks.empty() || !options.threads.empty();
  const std::string scaling_of = scaling ? options.scaling_of : "";
  require(!scaling || line.parallel == 1,
          "--parallel {}: runs whose times are compared must run one at a time; remove it", line.parallel);
  require(options.ranks.empty() || line.ranks == 1, "--ranks {}: the study sets the ranks itself (scaling.ranks)",
          line.ranks);
  StudyRuns runs(comm, line, table.study, folder, {});
  runs.require_no_others();
  make_study_folder(folder);
  const DirectoryLock lock(folder);
  log_info("{}{} cases of {}\n", options.title.empty() ? "" : options.title + ": ", table.study.cases.size(),
           table.study.deck);
  if (line.slurm) {
    const std::optional<std::string> submit = write_batch_scripts(comm, runs, folder);
    return log_info("{} this command without --slurm makes the table and the report",
                    submit ? fmt::format("bash {} --time=... submits the cases; when they have ended,", *submit)
                           : "All cases are completed, none remains to be submitted;");
  }
  const OrderlyEnd orderly(comm, 0.0);
  try {
    runs.run();
  } catch (const EarlyEnd& end) {
    leave(comm, runs, folder, scaling_of, table);
    log_warn("{}; the same command continues", end.reason);
    throw ExitStatus{end.status};
  }
  leave(comm, runs, folder, scaling_of, table);
  log_info("\n{}\nTable and charts: {}/study.html, study.csv, study.json", study_text(table), folder);
  const auto failed = std::ranges::count(table.rows, "failed", &StudyRow::status);
  require(failed == 0,
          "{} of {} cases failed; the others are in the table, and the same command reruns the failed ones", failed,
          table.rows.size());
}

}  // namespace karst
