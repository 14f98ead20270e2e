// SPDX-License-Identifier: BSD-3-Clause
// Damages decks and runs them: karst-damage-decks [COUNT [SEED [FOLDER]]]
// COUNT decks (300): values, keys and lines of valid ones exchanged for others, numbers huge, tiny and none at all,
// brackets in towers, cut short. Each is read, and run when its grid is small, in a process of its own. It has to be
// refused with a message or to run to its end. All else is a failure: a crash, more than 20 s of processor time,
// another exception, a message that blames the program. Decks that fail are kept in FOLDER.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/run_guarded.hpp"
#include "tests/damage/damage_run.hpp"
#include "tests/damage/deck_samples.hpp"

namespace karst::test {
namespace {

namespace fs = std::filesystem;

enum Outcome : int { refused, large, finished, memory, exception, crash, hang, n_outcomes };
constexpr std::array<const char*, n_outcomes> names{"refused",   "read (large)", "run", "out of memory",
                                                    "EXCEPTION", "CRASH",        "HANG"};

const std::array<std::string_view, 64> values{"0",
                                              "-1",
                                              "1",
                                              "2",
                                              "3",
                                              "7",
                                              "8",
                                              "16",
                                              "1e300",
                                              "-1e300",
                                              "1e-300",
                                              "5e-324",
                                              "1e16",
                                              "-1e16",
                                              "1e8",
                                              "1e-12",
                                              "0.5",
                                              "-0.0",
                                              "nan",
                                              "inf",
                                              "-inf",
                                              "65536",
                                              "100000",
                                              "2147483647",
                                              "2147483648",
                                              "-2147483648",
                                              "9223372036854775807",
                                              "1e6",
                                              "true",
                                              "false",
                                              "\"\"",
                                              "\"x\"",
                                              "[]",
                                              "[0, 0, 0]",
                                              "[1, 1, 1]",
                                              "[1e300, 0, 0]",
                                              "[-1, -1, -1]",
                                              "[1, 2]",
                                              "[1, 2, 3, 4]",
                                              "[[1], [2]]",
                                              "[true, false, true]",
                                              "[\"x\", \"y\", \"z\"]",
                                              "[\"x\", \"x\"]",
                                              "[nan, nan, nan]",
                                              "{}",
                                              "{a = 1}",
                                              "1979-05-27",
                                              "07:32:00",
                                              "\"wall\"",
                                              "\"region\"",
                                              "\"periodic\"",
                                              "\"no-slip\"",
                                              "\"fluid\"",
                                              "\"stokes\"",
                                              "\"steady\"",
                                              "\"none\"",
                                              "\"1/x\"",
                                              "\"x/0\"",
                                              "\"sqrt(x - 1)\"",
                                              "\"sin(1e9*x)\"",
                                              "\"x^y^z\"",
                                              "\"(((x)))\"",
                                              "\"../..\"",
                                              "\"no/such/file\""};

class Breaker {
 public:
  explicit Breaker(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15U + 7) {}

  std::string run() {
    text_ = deck_samples()[below(deck_samples().size())];
    lines_ = split(text_, '\n');
    const std::size_t times = 1 + below(3) * below(2);
    for (std::size_t n = 0; n < times; ++n) change_lines();
    text_ = join(lines_, "\n");
    if (below(10) == 0) change_bytes();
    return text_;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  std::string value() {
    if (below(12) == 0) {
      const std::string open = below(2) == 0 ? "[" : "{a = ", close = open == "[" ? "]" : "}";
      std::string tower;
      const std::size_t deep = below(2) == 0 ? 3 : below(600);
      for (std::size_t n = 0; n < deep; ++n) tower += open;
      tower += "1";
      for (std::size_t n = 0; n < deep; ++n) tower += close;
      return tower;
    }
    return std::string(values[below(values.size())]);
  }
  std::string& some_line() { return lines_[below(lines_.size())]; }
  std::string any_key() {
    for (std::size_t n = 0; n < 50; ++n) {
      const std::string& line = some_line();
      if (const std::size_t at = line.find(" ="); at != std::string::npos) return line.substr(0, at);
    }
    return "key";
  }

  /// One number of the line is another one.
  void change_number(std::string& line) {
    const std::size_t equal = line.find('='), from = equal == std::string::npos ? 0 : equal,
                      at = line.find_first_of("0123456789", from + below(line.size() - from));
    if (at == std::string::npos) return;
    const std::size_t end = std::min(line.find_first_not_of("0123456789.e-", at), line.size());
    constexpr std::array<double, 8> factors{0.1, 0.5, 0.9, 1.1, 2.0, 3.0, 10.0, -1.0};
    const double number = std::strtod(line.c_str() + at, nullptr) * factors[below(factors.size())];
    line.replace(at, end - at, below(3) == 0 ? std::string(values[below(28)]) : fmt::format("{}", number));
  }

  void change_lines() {
    std::string& line = some_line();
    const std::size_t equal = line.find('=');
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
        if (equal != std::string::npos) line = line.substr(0, equal + 1) + " " + value();
        return;
      case 3:
      case 4:
      case 5:
        line.clear();
        return;
      case 6:
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())), std::string(line));
        return;
      case 7:
        std::swap(line, some_line());
        return;
      case 8:
        if (equal != std::string::npos) line = any_key() + " " + line.substr(equal);
        return;
      case 9: {  // from another deck
        const std::vector<std::string> other = split(deck_samples()[below(deck_samples().size())], '\n');
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())), other[below(other.size())]);
        return;
      }
      case 10: {
        std::string key = any_key();
        for (std::size_t n = below(4) == 0 ? below(100'000) : below(80); n > 0; --n) key += ".a";
        line = key + " = 1";
        return;
      }
      case 11:
        if (equal != std::string::npos) line = any_key() + " = " + value();
        return;
      default:
        if (!line.empty()) change_number(line);
    }
  }

  void change_bytes() {
    for (std::size_t n = 1 + below(3); n > 0 && !text_.empty(); --n) {
      const std::size_t at = below(text_.size());
      switch (below(4)) {
        case 0:
          text_[at] = static_cast<char>(random_());
          break;
        case 1:
          text_.erase(at, 1 + below(8));
          break;
        case 2:
          text_.insert(at, text_.substr(below(text_.size()), 1 + below(8)));
          break;
        default:
          if (below(3) == 0) text_.resize(at);
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> lines_;
};

/// A grid that is solved in a moment.
bool is_small(const Config& c) {
  constexpr double most_cells = 40000.0;
  double cells = std::pow(8.0, c.grid.levels - 1), cross_section = 1.0;
  for (int d = 0; d < 3; ++d) {
    const double n = c.cells_given || c.geometry.image.empty() ? c.grid.cells[d] : 10.0;
    cells *= n;
    cross_section = std::max(cross_section, n * n);
  }
  const bool few_steps = c.time.dt == 0.0 || c.time.end <= 20.0 * c.time.dt;
  return cells <= most_cells && cross_section * c.flow.reservoir <= most_cells && c.flow.max_iterations <= 10000 &&
         few_steps;
}

/// What becomes of the deck in the present folder. In a process of its own.
Outcome attempt() {
  try {
    Reader reader = Reader::from_file("deck.toml");
    const Config config = read_config(reader);
    reader.finish();
    if (!is_small(config)) return large;
    run_karst(Comm::world(),
              {"run", "deck.toml", "--overwrite", "--out", "out", "run.time_limit=\"8 s\""});  // long ones end in order
    return finished;
  } catch (const ExitStatus& e) {
    return e.code == 0 ? finished : refused;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return std::strstr(e.what(), "This is a bug") == nullptr ? refused : exception;
  } catch (const std::bad_alloc&) {
    return memory;
  } catch (const std::exception& e) {
    fmt::print(stderr, "EXCEPTION: {}\n", e.what());
    return exception;
  }
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// 20 s of processor time and 2 GiB; what is said goes to a file.
[[noreturn]] void work() {
  const rlimit bytes{2UL << 30, 2UL << 30}, no_core{0, 0}, seconds{20, 22};
  setrlimit(RLIMIT_DATA, &bytes);
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &seconds);
  if (std::freopen("said.txt", "w", stdout) == nullptr || dup2(fileno(stdout), STDERR_FILENO) < 0) _exit(99);
  const Outcome outcome = attempt();
  std::fflush(stdout);
  _exit(static_cast<int>(outcome));
}

Outcome outcome_of_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGXCPU ? hang : crash;
  const int code = WEXITSTATUS(status);
  return code < n_outcomes ? static_cast<Outcome>(code) : crash;
}

void keep_case(const std::string& folder, std::size_t n, Outcome outcome) {
  if (folder.empty()) return;
  const std::string name = fmt::format("{}/{}_{}", folder, n, names[outcome]);
  std::error_code ignored;
  fs::copy_file("deck.toml", name + ".toml", fs::copy_options::overwrite_existing, ignored);
  fs::copy_file("said.txt", name + ".txt", fs::copy_options::overwrite_existing, ignored);
}

/// In a process of its own.
Outcome outcome_of(std::string_view deck) {
  write("deck.toml", std::string(deck));
  fs::remove_all("out");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) work();
  return outcome_of_child(child);
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int run_all(std::span<char*> arguments) {
  const std::size_t count = number_or(arguments, 1, 300), seed = number_or(arguments, 2, 1);
  const std::string keep = arguments.size() > 3 ? fs::absolute(arguments[3]).string() : "";
  std::string folder = (fs::temp_directory_path() / "karst_decks_XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr && chdir(folder.c_str()) == 0, "{}: cannot be made", folder);
  make_sample_files();
  for (const std::string& deck : deck_samples())
    if (const Outcome whole = outcome_of(deck); whole != finished)
      throw Error(fmt::format("an undamaged deck is {}:\n{}\n{}", names[whole], deck, content("said.txt")));
  std::array<std::size_t, n_outcomes> found{};
  for (std::size_t n = 0; n < count; ++n) {
    const Outcome outcome = outcome_of(Breaker(seed + n).run());
    ++found[outcome];
    if ((n + 1) % 1000 == 0) {
      fmt::print("{} of {} decks\n", n + 1, count);
      std::fflush(stdout);
    }
    if (outcome < memory) continue;
    fmt::print("deck {}: {}\n", seed + n, names[outcome]);
    keep_case(keep, seed + n, outcome);
  }
  chdir("/") == 0 ? void(fs::remove_all(folder)) : void();
  print_outcomes(found, names);
  // The decks have to get past the reader, or nothing is tested.
  if (count >= 100) require(found[finished] * 20 > count, "only {} of {} decks were run", found[finished], count);
  return status_of(found, memory);
}

}  // namespace
}  // namespace karst::test

int main(int argc, char** argv) { return karst::test::run_damage(argc, argv, karst::test::run_all); }
