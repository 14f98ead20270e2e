// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace karst {

/// What this process has open under the path, or of temporary files beside it (AtomicFile), leads from now on to memory
/// that is thrown away: writes there succeed. For a file that is given up: HDF5, which cannot close a file that it
/// cannot write (a full disk), keeps it, tries again when the program ends, after MPI has, and crashes there. Not
/// collective.
void discard_writes(const std::string& path);

/// The same of one open file. Not collective.
void discard_writes(int descriptor);

/// Discards what is written to a file unless finished() was called. To be declared behind the handle of the file, so
/// that it acts first.
class DiscardUnfinished {
 public:
  explicit DiscardUnfinished(std::string path) : path_(std::move(path)) {}
  DiscardUnfinished(const DiscardUnfinished&) = delete;
  DiscardUnfinished& operator=(const DiscardUnfinished&) = delete;
  ~DiscardUnfinished() {
    if (!path_.empty()) discard_writes(path_);
  }
  void finished() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace karst
