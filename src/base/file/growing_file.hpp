// SPDX-License-Identifier: BSD-3-Clause
// A text file that a run goes on writing: a history, a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace karst {

/// What a write does not bring into the file (the disk is full for a while, a server does not answer) waits in memory
/// and is written before what comes next, at its place. Where that fails to the end, finish() says so: a file is whole,
/// or there is an error. One that was not opened takes texts and forgets them. For one rank; not collective.
class GrowingFile {
 public:
  GrowingFile() = default;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();  ///< what still waits is lost
  /// Throws Error with path and reason: it cannot be written, or is no plain file.
  /// @param go_on  behind what is there; else the file begins empty
  /// @param name   of the file in messages; empty: the path
  void open(const std::string& path, bool go_on = false, const std::string& name = "");
  /// Never fails.
  void append(std::string_view text);
  /// Writes what waits. Throws Error with path and reason; what waits stays.
  void flush();
  /// flush(), then closes the file. Throws Error also where the system reports on closing that something was lost.
  void finish();

 private:
  int write_waiting();
  std::string name_, waiting_;
  std::int64_t written_ = 0;  ///< bytes that stand in the file
  int file_ = -1;
};

}  // namespace karst
