// SPDX-License-Identifier: BSD-3-Clause
// What a run says: plain lines on the terminal of rank 0, the same with times in a log file, and a progress line.
// The log is process-wide: there is one terminal.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/comm/comm.hpp"

namespace karst {

/// After this call rank 0 writes to the terminal and, unless the name is empty, to a new log file; the other ranks
/// write nothing and only store their warnings. Throws Error on rank 0 if the file cannot be created. Not collective.
/// Before this call every process writes to its terminal.
void set_up_log(const Comm& comm, const std::string& file = "");
/// Closes the log file; output to the terminal continues. Throws Error if not all lines could be written. Not
/// collective.
void close_log();

namespace detail {
void log_line(const std::string& text);
void log_file_line(const std::string& text);
void log_warning(const std::string& text);
}  // namespace detail

/// A line on stdout and in the log file.
template <class... A>
void log_info(fmt::format_string<A...> text, A&&... a) {
  detail::log_line(fmt::format(text, std::forward<A>(a)...));
}

/// A line for the log file only: details that explain a run.
template <class... A>
void log_detail(fmt::format_string<A...> text, A&&... a) {
  detail::log_file_line(fmt::format(text, std::forward<A>(a)...));
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

/// How far something has come.
struct ProgressState {
  double part = 0.0;      ///< 0 to 1
  double left = 0.0;      ///< until all is done [s]; NaN: not known yet
  std::string what;       ///< that is being done
  std::string note = {};  ///< on that, in pieces parted by ", "
};

/// "[#####.....]  50 %  3.20 s left  stokes x: iteration 12, residual 1.2e-03", at most `width` characters wide. If it
/// is too long, pieces of the note are dropped, the last one first, then the bar, then the name of the activity;
/// numbers are never truncated.
std::string progress_line(const ProgressState& state, int width);

/// Destination of progress lines; the default is the terminal, or the log if stdout or stderr is not a terminal (under
/// mpirun).
struct ProgressOutput {
  bool terminal;
  int width;                                      ///< letters of a terminal line
  std::function<void(const std::string&)> write;  ///< a terminal line (with \r), or a log line
  std::function<double()> now;                    ///< [s]
  static ProgressOutput standard();
};

/// Writes progress lines. On a terminal one line that overwrites itself (at most 5 times a second); elsewhere plain
/// lines, the first after 5 s, then at growing distances up to 60 s. Not for use by several threads at a time.
class Progress {
 public:
  explicit Progress(ProgressOutput output = ProgressOutput::standard());
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }
  /// The line of the terminal.
  void clear();
  bool is_due() const { return output_.now() >= next_; }
  void write(const ProgressState& state);
  double now() const { return output_.now(); }

 private:
  ProgressOutput output_;
  double next_ = 0, interval_ = 0;
  bool shown_ = false;
};

}  // namespace karst
