// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/orderly_end.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>

#include "base/file/atomic_file.hpp"

namespace karst {

namespace {

constexpr double same_request = 0.5;  ///< batch systems and mpirun may pass on one request twice [s]
struct Signal {
  int number;
  const char* name;
};
constexpr std::array<Signal, 4> signals{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGUSR1, "SIGUSR1"}}};

using Clock = std::chrono::steady_clock;
struct State {
  bool lives = false;
  double limit = 0.0;  // [s]; 0: none
  Clock::time_point start;
  std::string_view answer;
  std::array<void (*)(int), signals.size()> before{};
};
State end_state;
std::atomic<int> asked = 0;  // number of the signal
std::atomic<bool> speaks = false;
std::atomic<double> asked_at = 0.0;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Only what is allowed in a signal handler.
extern "C" void note_signal(int number) {
  if (asked != 0) {
    if (now() - asked_at >= same_request) remove_temporary_files_and_die(number);
    return;
  }
  asked_at = now();
  asked = number;
  if (!speaks) return;
  constexpr std::string_view before = "\n", behind = "; a second signal stops at once\n";
  for (const std::string_view text : {before, end_state.answer, behind})
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

OrderlyEnd::OrderlyEnd(const Comm& comm, double seconds, std::string_view answer) {
  asked = 0;
  end_state.answer = answer;
  speaks = comm.rank() == 0;
  end_state.limit = seconds;
  end_state.start = Clock::now();
  end_state.lives = true;
  for (std::size_t s = 0; s < signals.size(); ++s) {
    end_state.before[s] = std::signal(signals[s].number, note_signal);
    if (end_state.before[s] == SIG_IGN) std::signal(signals[s].number, SIG_IGN);  // nohup
  }
}

OrderlyEnd::~OrderlyEnd() {
  for (std::size_t s = 0; s < signals.size(); ++s) std::signal(signals[s].number, end_state.before[s]);
  end_state.lives = false;
}

void end_if_asked(const Comm& comm) {
  if (!end_state.lives) return;
  const bool late =
      end_state.limit > 0.0 && std::chrono::duration<double>(Clock::now() - end_state.start).count() > end_state.limit;
  const int mine = asked;
  const auto code = static_cast<int>(comm.max(std::int64_t{mine != 0 ? mine + 1 : (late ? 1 : 0)}));
  if (code == 0) return;
  if (code == 1) throw EarlyEnd{time_limit_status, "the time limit is reached"};
  for (const Signal& s : signals)
    if (s.number == code - 1) throw EarlyEnd{128 + s.number, fmt::format("interrupted by {}", s.name)};
}

}  // namespace karst
