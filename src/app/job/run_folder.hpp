// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/file/atomic_file.hpp"
#include "io/publication.hpp"

namespace karst {

/// The results of a run: gathered in a folder inside the output directory, moved to their place together when all are
/// complete (io/publication.hpp). A run that fails leaves the results of an earlier run as they were, and nothing of
/// its own but the solves that it has finished, in solves(). One run at a time works in a directory.
class RunFolder {
 public:
  /// Makes the directory and those above it. First ends what a run that was killed had begun to publish.
  /// Throws Error on all ranks when the directory cannot be made, another run works in it, it holds results or finished
  /// solves and neither overwrite nor resume allows to go on, or it holds a file that this run reads or that no earlier
  /// run says it made, under the name of a result. Collective.
  /// @param inputs  files that the run reads
  /// @param resume  keeps the finished solves of a run that ended early, and replaces the results which that one was to
  ///                replace
  RunFolder(const Comm& comm, std::string path, bool overwrite, const std::vector<std::string>& inputs,
            bool resume = false);
  /// Unless published or left: removes what was made, without finished solves. Not collective: the first rank that
  /// leaves with an error does it; after begin_work() rank 0.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Where finished solves are kept.
  std::string solves() const { return karst::solves(path_); }
  /// Finished solves of an earlier run were found (and are kept).
  bool has_earlier_solves() const { return has_earlier_solves_; }
  /// An earlier run was killed while it moved its results to their place, which is done now; only with resume.
  bool is_complete() const { return is_complete_; }
  /// Where to write a file of this name for now. Until begin_work() and publish() a signal removes it with the folder.
  std::string file(const std::string& name) const;
  /// From now on the folder stays when a signal ends the process, and is rank 0's to remove. Collective.
  void begin_work();
  /// Says in the lock how far the run has come, for `karst status`: one line. Not collective.
  void say(const std::string& line) const;
  /// Ends early: of what was made the named files stay, and the finished solves. They come to the directory where no
  /// results of a complete run lie, else they stay in karst-unfinished; finished solves do so always. Returns where the
  /// files are. Throws Error. On rank 0 alone, after begin_work().
  std::string leave(const std::vector<std::string>& names);
  /// Names of the results that are there so far and of summary.json, sorted. The same on every rank. Collective.
  std::vector<std::string> names() const;
  /// Replaces the earlier results by the new ones. Returns the names of those that the replaced run says it made, on
  /// every rank. Throws Error on all ranks. Collective; every rank has closed its files.
  std::vector<std::string> publish();

 private:
  void prepare(bool overwrite, const std::vector<std::string>& inputs, bool resume);
  void check_earlier(bool overwrite, bool resume);

  Comm comm_;
  std::string path_, staging_;
  std::vector<std::string> made_;                         ///< directories that did not exist before, outermost first
  std::vector<std::string> earlier_;                      ///< rank 0: what the run to be replaced says it made
  std::unique_ptr<DirectoryLock> lock_;                   ///< rank 0
  mutable std::unique_ptr<RemovedOnSignals> on_signals_;  ///< rank 0
  bool works_ = false;
  bool published_ = false, has_earlier_solves_ = false, is_complete_ = false;
};

/// Ends what a run that was killed had begun to publish in this directory. Throws Error on all ranks, also when another
/// run works in it. Collective.
void complete_results(const Comm& comm, const std::string& path);

/// A result and what it is for.
struct ResultFile {
  std::string_view name, use;
};
/// Says on the terminal what lies in the folder: `files`, and those that every run leaves.
/// @param replaced  names of files of an earlier run, from publish()
void tell_results(const RunFolder& folder, const std::vector<ResultFile>& files,
                  const std::vector<std::string>& replaced);

}  // namespace karst
