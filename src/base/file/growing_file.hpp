// SPDX-License-Identifier: BSD-3-Clause
// A text file that grows during a run: a history, a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace karst {

/// Text that could not be written (a disk that is temporarily full, a server that does not respond) is kept in memory
/// and written before later text, at its position. If this fails until the end, finish() throws: either the file is
/// complete, or there is an error. An object that was not opened ignores text. For one rank; not collective.
class GrowingFile {
 public:
  GrowingFile() = default;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();  ///< pending text is lost
  /// Throws Error with path and reason: it cannot be written, or is no plain file.
  /// @param go_on  appends to the existing file; otherwise the file begins empty
  /// @param name   of the file in messages; empty: the path
  void open(const std::string& path, bool go_on = false, const std::string& name = "");
  /// Never fails.
  void append(std::string_view text);
  /// Writes pending text. Throws Error with path and reason; pending text is kept.
  void flush();
  /// flush(), then closes the file. Throws Error also where the system reports on closing that something was lost.
  void finish();

 private:
  int write_waiting();
  std::string name_, waiting_;
  std::int64_t written_ = 0;  ///< bytes in the file
  int file_ = -1;
};

}  // namespace karst
