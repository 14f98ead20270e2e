// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace karst {

/// Redirects the descriptors that this process has open under the path, or for temporary files next to it (AtomicFile),
/// to memory that is discarded: writes then succeed. For abandoned files: HDF5 cannot close a file that it cannot write
/// (a full disk); it would try again at the end of the program, after the end of MPI, and crash. Not collective.
void discard_writes(const std::string& path);

/// The same of one open file. Not collective.
void discard_writes(int descriptor);

/// Discards writes to a file unless finished() was called. To be declared after the handle of the file, so that it is
/// destroyed first.
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
