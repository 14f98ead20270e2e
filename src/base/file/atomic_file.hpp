// SPDX-License-Identifier: BSD-3-Clause
// Output files that are either complete or not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/comm/comm.hpp"

namespace karst {

/// A temporary file next to the final one: write to temporary(), then commit(). Without commit() the destructor removes
/// it (not collective: the first rank that leaves with an error removes it).
class AtomicFile {
 public:
  /// Rank 0 chooses a new name and creates the empty file. Throws the same Error on every rank, with path and reason,
  /// if that is not possible (no such folder, no permission, full) or if the path is not a plain file: a link, a
  /// folder, a device. Collective.
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

/// After this call SIGINT, SIGTERM, SIGHUP and SIGPIPE end the process as before, but first remove the temporary files
/// of this rank (at most 64 at a time). After SIGKILL NAME.XXXXXX.tmp may remain. Not collective.
void remove_temporary_files_on_signals();

/// The handler of these signals; async-signal-safe.
extern "C" void remove_temporary_files_and_die(int signal_number);

/// Files and folders of this process that these signals remove, too, while it lives: last first, folders only when
/// empty. Not collective.
class RemovedOnSignals {
 public:
  RemovedOnSignals() = default;
  RemovedOnSignals(const RemovedOnSignals&) = delete;
  RemovedOnSignals& operator=(const RemovedOnSignals&) = delete;
  ~RemovedOnSignals();
  void add(const std::string& name);

 private:
  std::vector<std::string> names_;
};

/// Writes the text of rank 0 to a file, completely or not at all. Throws the same Error on every rank. Collective.
void write_file(const Comm& comm, const std::string& path, std::string_view text);

}  // namespace karst
