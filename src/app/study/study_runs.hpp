// SPDX-License-Identifier: BSD-3-Clause
// The runs of a study: each case is a `karst run` of its own, a few at a time, in a folder of the study. Cases that an
// earlier study has completed with the same deck and program are taken as they are.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "app/deck/command_line.hpp"
#include "app/study/study.hpp"
#include "base/comm/comm.hpp"
#include "base/file/log.hpp"

namespace karst {

class Json;

// How a case of a study is started: here, by mpirun, or by SLURM on a cluster.

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

/// What becomes of cases that end before they are completed.
struct StudyRules {
  bool go_on = true;          ///< they go on from what they have solved; else they begin anew
  bool past_failures = true;  ///< the other cases are run all the same; else an Error ends the study
};

/// The deck of a case.
struct CaseDeck {
  std::string text;       ///< complete, as runs leave it
  std::vector<int> axes;  ///< along which its jobs need a path through the pores
};

class StudyRuns {
 public:
  /// Throws Error with the mistakes of the decks of all cases. Line and study must outlive it.
  StudyRuns(const Comm& comm, const CommandLine& line, const Study& study, std::string folder, StudyRules rules);
  ~StudyRuns();
  StudyRuns(const StudyRuns&) = delete;
  StudyRuns& operator=(const StudyRuns&) = delete;

  /// Throws Error where completed results of another study would be replaced, unless --overwrite allows it.
  void require_no_others() const;
  /// All cases. Throws Error by the rules, EarlyEnd where the study is asked to end (an OrderlyEnd lives), when the
  /// cases on their way have ended.
  void run();

  const std::vector<StudyRow>& rows() const { return rows_; }        ///< one per case, without figures
  const std::vector<Json>& summaries() const { return summaries_; }  ///< of cases that are completed; null for others
  /// Folder of the results of a case.
  std::string folder_of(std::size_t i) const;
  /// An earlier study has completed the case.
  bool is_there(std::size_t i) const;
  /// What starts a case.
  CaseRun run_of(std::size_t i) const;

 private:
  struct Running;

  std::string note_of(std::size_t i) const;
  bool ran_as_asked(const Json& summary, std::size_t i) const;
  void begin(std::size_t i, std::list<Running>& running);
  bool ended(Running& r);
  void take(std::size_t i, const char* how);
  void require_none_failed() const;
  std::string name(std::size_t i) const;
  void show(const std::list<Running>& running);

  const Comm& comm_;
  const CommandLine& line_;
  const Study& study_;
  std::string folder_;
  StudyRules rules_;
  std::vector<CaseDeck> decks_;
  std::vector<StudyRow> rows_;
  std::vector<Json> summaries_;
  Progress progress_;
};

/// The folder of a study, unless it is there. Throws Error.
void make_study_folder(const std::string& folder);

}  // namespace karst
