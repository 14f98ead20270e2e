// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/growing_file.hpp"

namespace karst {

namespace {

constexpr std::size_t most_warnings = 200;  // different texts kept

/// The log's lines into a file. The log's own mutex is held.
class FileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FileSink(const std::string& file) { file_.open(file); }
  void finish() { file_.finish(); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    file_.append({line.data(), line.size()});
  }
  void flush_() override {}
  GrowingFile file_;
};

struct LogState {
  std::mutex mutex;
  bool quiet = false;
  std::shared_ptr<FileSink> sink;
  std::shared_ptr<spdlog::logger> file;  // into the sink
  bool line_open = false;                // a progress line stands on the terminal
  std::vector<std::string> warnings;
  std::map<std::string, std::int64_t> counts;
  std::int64_t n_warnings = 0;
};

LogState& state() {
  static LogState s;
  return s;
}

/// A line on a terminal stream, after removing the progress line. The mutex is held.
void put_line(LogState& s, std::FILE* stream, const std::string& text) {
  if (s.line_open) std::fputs("\r\033[K", stdout);
  s.line_open = false;
  if (stream != stdout) std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fputc('\n', stream);
  std::fflush(stream);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void set_up_log(const Comm& comm, const std::string& file) {
  close_log();
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  s.quiet = comm.rank() != 0;
  if (s.quiet || file.empty()) return;
  s.sink = std::make_shared<FileSink>(file);
  s.file = std::make_shared<spdlog::logger>("karst", s.sink);
  s.file->set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%l] %v");
}

void close_log() {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  s.file.reset();
  if (const std::shared_ptr<FileSink> sink = std::exchange(s.sink, nullptr)) sink->finish();
}

namespace detail {

void log_line(const std::string& text) {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.quiet) return;
  put_line(s, stdout, text);
  if (s.file) s.file->info("{}", text);
}

void log_file_line(const std::string& text) {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.quiet && s.file) s.file->info("{}", text);
}

void log_warning(const std::string& text) {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.n_warnings;
  const auto known = s.counts.find(text);
  if (known != s.counts.end()) {
    ++known->second;
    return;
  }
  if (s.warnings.size() < most_warnings) {
    s.warnings.push_back(text);
    s.counts[text] = 1;
  }
  if (s.quiet) return;
  put_line(s, stderr, "warning: " + text);
  if (s.file) s.file->warn("{}", text);
}

}  // namespace detail

std::int64_t n_warnings() {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  return s.n_warnings;
}

void forget_warnings() {
  LogState& s = state();
  const std::lock_guard lock(s.mutex);
  s.warnings.clear();
  s.counts.clear();
  s.n_warnings = 0;
}

std::string warning_summary(const Comm& comm) {
  std::string mine;  // count, space, text, one zero byte
  for (const std::string& w : state().warnings) mine += fmt::format("{} {}", state().counts[w], w) + '\0';
  const std::vector<char> all = comm.all_gather(std::span<const char>(mine.data(), mine.size()));
  const std::int64_t total = comm.sum(n_warnings());
  if (total == 0) return "";
  std::vector<std::string> order;
  std::map<std::string, std::pair<std::int64_t, int>> counts;  // times, ranks
  for (const std::string& entry : split(std::string_view(all.data(), all.size()), '\0')) {
    if (entry.empty()) continue;
    const std::size_t space = entry.find(' ');
    const std::string text = entry.substr(space + 1);
    if (!counts.contains(text)) order.push_back(text);
    auto& [times, ranks] = counts[text];
    times += std::stoll(entry.substr(0, space));
    ++ranks;
  }
  std::string summary = fmt::format("{} warning{}:", total, total == 1 ? "" : "s");
  std::int64_t listed = 0;
  for (const std::string& text : order) {
    const auto& [times, ranks] = counts[text];
    listed += times;
    std::string note = times > 1 ? fmt::format(" ({} times", times) : "";
    if (times > 1) note += ranks > 1 ? fmt::format(" on {} ranks)", ranks) : ")";
    summary += fmt::format("\n  {}{}", text, note);
  }
  if (listed < total) summary += fmt::format("\n  and {} others, see the log file", total - listed);
  return summary;
}

namespace {

/// Letters as a terminal shows them: bytes that begin one in UTF-8.
int letters(std::string_view text) {
  return static_cast<int>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string progress_line(const ProgressState& state, int width) {
  constexpr int longest_bar = 30, shortest_bar = 10;
  const double part = std::clamp(state.part, 0.0, 1.0);
  std::string line = fmt::format("{:3.0f} %", std::floor(100.0 * part));
  if (letters(line) > width) return "";
  const auto add = [&](const std::string& more) {
    if (letters(line) + letters(more) > width) return false;
    line += more;
    return true;
  };
  if (std::isfinite(state.left) && !add(fmt::format("  {} left", format_seconds(state.left)))) return line;
  if (state.what.empty() || !add("  " + state.what)) return line;
  if (!state.note.empty()) {
    const std::vector<std::string> pieces = split(state.note, ',');
    for (std::size_t p = 0; p < pieces.size(); ++p)
      if (!add((p == 0 ? ": " : ",") + pieces[p])) break;
  }
  const int n = std::min(longest_bar, width - letters(line) - 4);  // brackets, two spaces
  if (n < shortest_bar) return line;
  const int filled = static_cast<int>(part * n);
  return fmt::format("[{}{}]  {}", std::string(filled, '#'), std::string(n - filled, '.'), line);
}

ProgressOutput ProgressOutput::standard() {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return {false, 80, detail::log_line, seconds_now};
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const auto write = [](const std::string& text) {
    LogState& s = state();
    const std::lock_guard lock(s.mutex);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    s.line_open = true;
  };
  return {true, known ? size.ws_col - 1 : 79, write, seconds_now};
}

Progress::Progress(ProgressOutput output) : output_(std::move(output)) {
  interval_ = output_.terminal ? 0.2 : 5.0;
  next_ = output_.now() + interval_;
}

void Progress::clear() {
  if (std::exchange(shown_, false) && output_.terminal) output_.write("\r\033[K");
}

void Progress::write(const ProgressState& state) {
  const std::string line = progress_line(state, output_.width);
  output_.write(output_.terminal ? "\r\033[K" + line : line);
  shown_ = true;
  if (!output_.terminal) interval_ = std::min(1.5 * interval_, 60.0);
  next_ = output_.now() + interval_;
}

}  // namespace karst
