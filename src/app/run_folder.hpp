// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/comm.hpp"

namespace karst {

/// The results of a run: gathered in a hidden folder inside the output directory, moved to their place together when
/// all are complete. A run that fails leaves nothing, and the results of an earlier run as they were.
class RunFolder {
 public:
  /// Throws Error on all ranks when the directory holds results and overwrite is false, or cannot be made. Collective.
  RunFolder(const Comm& comm, std::string path, bool overwrite);
  /// Unless published: removes what was made. Not collective: the first rank that leaves with an error does it.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Where to write a file of this name for now.
  std::string file(const std::string& name) const { return staging_ + "/" + name; }
  /// Removes the earlier results and moves the new ones to their place, summary.json last. Returns the names of the
  /// removed files, on every rank. Throws Error on all ranks. Collective; every rank has closed its files.
  std::vector<std::string> publish();

 private:
  Comm comm_;
  std::string path_, staging_;
  std::vector<std::string> made_;  ///< directories that did not exist before, outermost first
  bool published_ = false;
};

/// A result and what it is for.
struct ResultFile {
  std::string_view name, use;
};
/// Says on the terminal what lies in the folder: `files`, and those that every run leaves.
/// @param removed  names of files of an earlier run, from publish()
void tell_results(const RunFolder& folder, const std::vector<ResultFile>& files,
                  const std::vector<std::string>& removed);

}  // namespace karst
