// SPDX-License-Identifier: BSD-3-Clause
// What a run says: plain lines on the terminal of rank 0, the same with times in a log file, and a progress line.
// The log is process-wide: there is one terminal.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/comm.hpp"

namespace karst {

/// From now on rank 0 writes to the terminal and, unless the name is empty, to a new log file; the other ranks stay
/// quiet and only keep their warnings. Throws Error on rank 0 when the file cannot be made. Not collective.
/// Before this call every process writes to its terminal.
void set_up_log(const Comm& comm, const std::string& file = "");
/// Closes the log file; the terminal goes on.
void close_log();

namespace detail {
void log_line(const std::string& text);
void log_warning(const std::string& text);
}  // namespace detail

/// A line on stdout and in the log file.
template <class... A>
void log_info(fmt::format_string<A...> text, A&&... a) {
  detail::log_line(fmt::format(text, std::forward<A>(a)...));
}

/// A line on stderr and in the log file. The same text is written once and counted. Any thread, any rank.
template <class... A>
void log_warn(fmt::format_string<A...> text, A&&... a) {
  detail::log_warning(fmt::format(text, std::forward<A>(a)...));
}

std::int64_t n_warnings();  ///< on this rank so far, repetitions included
/// All warnings of all ranks with their counts, for the end of a run; empty when there were none. Collective; the same
/// text on every rank.
std::string warning_summary(const Comm& comm);
void forget_warnings();

/// "cut cells  [#####.....]  50 %  3.20 s left", at most width letters wide.
std::string progress_line(std::string_view what, std::int64_t done, std::int64_t total, double seconds, int width);

/// Where a progress line goes; the default is the terminal, or the log when stdout or stderr is none (under mpirun).
struct ProgressOutput {
  bool terminal;
  int width;                                      ///< letters of a terminal line
  std::function<void(const std::string&)> write;  ///< a terminal line (with \r), or a log line
  std::function<double()> now;                    ///< [s]
  static ProgressOutput standard();
};

/// How far a loop has come. On a terminal one line that overwrites itself (at most 10 times a second); elsewhere plain
/// lines, the first after 5 s, then at growing distances up to 60 s. Rank 0 alone writes. Not collective.
class Progress {
 public:
  Progress(const Comm& comm, std::string what, std::int64_t total, ProgressOutput output = ProgressOutput::standard());
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  ///< clears the terminal line
  /// Cheap to call often. On the thread that made it.
  /// @param note  shown behind `what`
  void update(std::int64_t done, std::string_view note = {});

 private:
  bool active_;
  std::string what_;
  std::int64_t total_;
  ProgressOutput output_;
  double start_ = 0, next_ = 0, interval_ = 0;
  bool shown_ = false;
};

}  // namespace karst
