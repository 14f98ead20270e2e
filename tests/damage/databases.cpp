// SPDX-License-Identifier: BSD-3-Clause
// Damages databases of chemistry and speciates with them: karst-damage-databases FOLDER [COUNT [SEED [KEPT]]]
// COUNT (300) times lines of a database of the folder are removed, moved to another block, exchanged or cut, keywords
// changed, numbers made huge, none or other ones. What comes of it is read for a deck with minerals, an exchanger and a
// surface. It has to be refused with a message or to give a result. All else is a failure: a crash, more than 20 s of
// processor time, another exception. What fails is kept in KEPT.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include "app/cli/commands.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/run_guarded.hpp"
#include "tests/damage/damage_run.hpp"

namespace karst::test {
namespace {

namespace fs = std::filesystem;

enum Outcome : int { refused, finished, exception, crash, hang, n_outcomes };
constexpr std::array<const char*, n_outcomes> names{"refused", "speciated", "EXCEPTION", "CRASH", "HANG"};

constexpr const char* deck = R"deck([chemistry]
database = "damaged.dat"
times = [1, 100]
[[chemistry.solution]]
pH = 7
temperature = 40
totals = ["Na 1e-2", "Cl 1e-2 charge", "Ca 1e-4", "Mg 1e-4", "C(4) 1e-3", "S(6) 1e-4", "K 1e-4"]
[[chemistry.mineral]]
phase = "Calcite"
area = 0.1
amount = 1.0
rates = ["0.89 H+ 1", "6.6e-7"]
[[chemistry.exchange]]
site = "X"
amount = 0.02
[[chemistry.surface]]
sites = ["Hfo_w 1e-3"]
area = 600
mass = 0.09
)deck";

constexpr std::array<std::string_view, 12> keywords{"SOLUTION_SPECIES",
                                                    "EXCHANGE_SPECIES",
                                                    "SURFACE_SPECIES",
                                                    "SOLUTION_MASTER_SPECIES",
                                                    "EXCHANGE_MASTER_SPECIES",
                                                    "SURFACE_MASTER_SPECIES",
                                                    "PHASES",
                                                    "RATES",
                                                    "END",
                                                    "PITZER",
                                                    "RATE_PARAMETERS_PK",
                                                    "TITLE"};
constexpr std::array<std::string_view, 16> words{"0",       "-1",        "1e300", "1e-300", "nan", "X-",
                                                 "Hfo_wOH", "e-",        "H+",    "1.2.3",  "=",   "+",
                                                 "-gamma",  "-no_check", "log_k", "X"};

/// Lines of a database and what becomes of them.
class Breaker {
 public:
  Breaker(std::vector<std::string> lines, std::uint64_t seed)
      : lines_(std::move(lines)), random_(seed * 0x9e3779b97f4a7c15U + 7) {}

  std::string run() {
    const std::size_t times = 1 + below(4) * below(3);
    for (std::size_t n = 0; n < times; ++n) change();
    return join(lines_, "\n");
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  /// Reactions and what belongs to them, rather than the many lines of other blocks.
  std::size_t some_line() {
    std::size_t at = below(lines_.size());
    for (int n = 0; n < 20 && lines_[at].find('=') == std::string::npos; ++n) at = below(lines_.size());
    return at;
  }
  void insert(std::size_t at, const std::string& line) {
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), line);
  }

  void change_word(std::string& line) {
    std::vector<std::string> all = split(line, ' ');
    std::string& word = all[below(all.size())];
    if (below(3) == 0)
      word = words[below(words.size())];
    else if (!word.empty())
      word = below(2) == 0 ? word.substr(0, below(word.size())) : word + word.substr(below(word.size()));
    line = join(all, " ");
  }

  void change() {
    const std::size_t at = some_line();
    const std::string line = lines_[at];
    switch (below(8)) {
      case 0:
        lines_[at].clear();
        return;
      case 1:  // in another block
        lines_[at].clear();
        return insert(below(lines_.size()), line);
      case 2:
        return insert(below(lines_.size()), std::string(keywords[below(keywords.size())]));
      case 3: {
        const std::size_t other = some_line();
        return lines_[at].swap(lines_[other]);
      }
      case 4: {  // a keyword is another one
        for (std::size_t n = 0; n < lines_.size(); ++n) {
          std::string& here = lines_[(at + n) % lines_.size()];
          if (std::ranges::count(keywords, here) == 0) continue;
          here = keywords[below(keywords.size())];
          return;
        }
        return;
      }
      case 5:  // behind a keyword
        for (std::size_t n = 0; n < lines_.size(); ++n)
          if (const std::size_t place = (at + n) % lines_.size(); std::ranges::count(keywords, lines_[place]) > 0)
            return insert(place + 1, line);
        return;
      default:
        change_word(lines_[at]);
    }
  }

  std::vector<std::string> lines_;
  std::mt19937_64 random_;
};

/// In a process of its own.
[[noreturn]] void work() {
  const rlimit no_core{0, 0}, seconds{20, 22}, bytes{2UL << 30, 2UL << 30};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_DATA, &bytes);
  if (std::freopen("said.txt", "w", stdout) == nullptr || dup2(fileno(stdout), STDERR_FILENO) < 0) _exit(99);
  Outcome outcome = finished;
  try {
    run_karst(Comm::world(), {"speciate", "deck.toml", "-o", "out.csv", "--overwrite"});
  } catch (const Error& e) {
    fmt::print("{}\n", e.what());
    outcome = refused;
  } catch (const ExitStatus& e) {
    outcome = e.code == 0 ? finished : refused;
  } catch (const std::exception& e) {
    fmt::print("EXCEPTION: {}\n", e.what());
    outcome = exception;
  }
  std::fflush(stdout);
  _exit(static_cast<int>(outcome));
}

Outcome outcome_of(const std::string& database) {
  std::ofstream("damaged.dat") << database;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) work();
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGXCPU ? hang : crash;
  return WEXITSTATUS(status) < n_outcomes ? static_cast<Outcome>(WEXITSTATUS(status)) : crash;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return split(std::string(std::istreambuf_iterator<char>(in), {}), '\n');
}

/// Which databases of a folder fit the deck.
std::vector<std::vector<std::string>> databases_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".dat") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::vector<std::string>> all;
  for (const fs::path& path : paths)
    if (std::vector<std::string> lines = lines_of(path); outcome_of(join(lines, "\n")) == finished)
      all.push_back(std::move(lines));
  require(!all.empty(), "{}: no database there fits the deck", folder.string());
  return all;
}

int run_all(std::span<char*> arguments) {
  require(arguments.size() > 1, "expected: the folder of the databases");
  const fs::path from = fs::absolute(arguments[1]);
  const std::size_t count = number_or(arguments, 2, 300), seed = number_or(arguments, 3, 1);
  const std::string kept = arguments.size() > 4 ? fs::absolute(arguments[4]).string() : "";
  std::string folder = (fs::temp_directory_path() / "karst_databases_XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr && chdir(folder.c_str()) == 0, "{}: cannot be made", folder);
  std::ofstream("deck.toml") << deck;
  const std::vector<std::vector<std::string>> databases = databases_in(from);
  std::array<std::size_t, n_outcomes> found{};
  for (std::size_t n = 0; n < count; ++n) {
    const std::string database = Breaker(databases[n % databases.size()], seed + n).run();
    const Outcome outcome = outcome_of(database);
    ++found[outcome];
    if (outcome <= finished) continue;
    fmt::print("database {}: {}\n", seed + n, names[outcome]);
    if (!kept.empty()) std::ofstream(fmt::format("{}/{}.dat", kept, seed + n)) << database;
  }
  chdir("/") == 0 ? void(fs::remove_all(folder)) : void();
  print_outcomes(found, names);
  // Both must happen, or nothing is tested.
  if (count >= 50)
    require(found[finished] * 10 > count && found[refused] * 10 > count, "too few of {} were read", count);
  return found[exception] + found[crash] + found[hang] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace karst::test

int main(int argc, char** argv) { return karst::test::run_damage(argc, argv, karst::test::run_all); }
