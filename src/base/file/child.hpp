// SPDX-License-Identifier: BSD-3-Clause
// Child processes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace karst {

/// A program under way; ended with this object. Not collective.
class Child {
 public:
  /// Starts it in the environment in which this program was started, without later changes by MPI.
  /// @param command  the program, looked for in PATH, and its arguments
  /// @param output   file for its output, overwritten; empty: it writes where this program writes
  /// Throws Error: no such program, file cannot be written.
  Child(const std::vector<std::string>& command, const std::string& output);
  ~Child();  ///< kills it, unless it has ended
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&& other) noexcept;

  /// Its exit status, 128 + number of the signal that killed it; nothing while it runs.
  std::optional<int> status();
  /// The same, when it has ended.
  int wait();
  /// SIGTERM.
  void ask_to_end() const;

 private:
  bool ended(int options);  // of waitpid()

  pid_t process_ = -1;  // -1: has ended
  int status_ = 0;
};

}  // namespace karst
