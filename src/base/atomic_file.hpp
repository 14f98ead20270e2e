// SPDX-License-Identifier: BSD-3-Clause
// Output files that are either complete or not there.
#pragma once

#include <string>
#include <string_view>

#include "base/comm.hpp"

namespace karst {

/// A temporary file beside the final one: write to temporary(), then commit(). Without commit() the destructor removes
/// it (not collective: the first rank that leaves with an error removes it).
class AtomicFile {
 public:
  /// Rank 0 chooses a new name and makes the empty file. Throws the same Error on every rank, with path and reason,
  /// when that is not possible (no such folder, no permission, full). Collective.
  AtomicFile(const Comm& comm, std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  const std::string& path() const { return path_; }
  const std::string& temporary() const { return temporary_; }
  /// Brings the data to disk and renames; an older file of that name is replaced. Every rank has closed the file.
  /// Throws the same Error on every rank. Collective.
  void commit();

 private:
  Comm comm_;
  std::string path_, temporary_;
  bool committed_ = false;
};

/// From now on SIGINT, SIGTERM and SIGHUP end the process as before, but first remove the temporary files of this rank
/// (at most 32 at a time). Nothing helps against SIGKILL: NAME.XXXXXX.tmp may stay then. Not collective.
void remove_temporary_files_on_signals();

/// Writes the text of rank 0 to a file, whole or not at all. Throws the same Error on every rank. Collective.
void write_file(const Comm& comm, const std::string& path, std::string_view text);

}  // namespace karst
