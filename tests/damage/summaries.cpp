// SPDX-License-Identifier: BSD-3-Clause
// Damages what runs say of their results and makes pages of it: karst-damage-summaries [EVERY [SEED [FOLDER]]]
// The sample decks are run; then each value of their summary.json is exchanged for others of another type, sign or
// size, for text with markup, for nothing, and each name of a member; of all these every EVERY-th (1) is tried. A page
// has to come out, or a message that refuses the summary. All else is a failure: a crash, more than 5 s of processor
// time, another exception, markup of the summary on the page. Summaries that fail are kept in FOLDER.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/job/job.hpp"
#include "app/output/field_view.hpp"
#include "app/run/run_report.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "base/file/run_guarded.hpp"
#include "tests/damage/damage_run.hpp"
#include "tests/damage/deck_samples.hpp"

namespace karst::test {
namespace {

namespace fs = std::filesystem;

enum Outcome : int { page, refused, markup, exception, crash, hang, n_outcomes };
constexpr std::array<const char*, n_outcomes> names{"pages", "refused", "MARKUP", "EXCEPTION", "CRASH", "HANG"};

/// In the three places where a text may end what it stands in.
constexpr const char* hostile = "\"hostile'<hostile>&";

/// What a value becomes.
const std::vector<Json>& others() {
  static const std::vector<Json> all{nullptr,
                                     true,
                                     hostile,
                                     "",
                                     "z",
                                     0,
                                     -1,
                                     7,
                                     1.5,
                                     std::int64_t{1} << 31,
                                     INT64_MAX,
                                     INT64_MIN,
                                     1e300,
                                     -1e300,
                                     5e-324,
                                     Json::array(),
                                     Json::object(),
                                     Json::array({1}),
                                     Json::array({hostile, hostile, hostile}),
                                     Json{{"axis", "<"}}};
  return all;
}

/// The way from the top to a value: places among members or items.
using Path = std::vector<std::size_t>;

/// All members, and of lists the first two items and the last one.
void add_paths(const Json& value, const Path& at, std::vector<Path>& paths) {
  if (!at.empty()) paths.push_back(at);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value.is_array() && i > 1 && i + 1 < value.size()) continue;
    Path deeper = at;
    deeper.push_back(i);
    add_paths(value.begin()[i], deeper, paths);
  }
}

/// Each value becomes all others, is removed, and has its name changed (of a list: stands there twice).
std::size_t n_kinds() { return others().size() + 2; }

Json damaged(const Json& value, std::span<const std::size_t> path, std::size_t kind) {
  if (path.empty()) return others()[kind];
  const bool last = path.size() == 1, removed = last && kind == others().size(),
             renamed = last && kind > others().size();
  Json all = value.is_array() ? Json::array() : Json::object();
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Json& item = value.begin()[i];
    const bool here = i == path[0];
    if (here && removed) continue;
    Json now = here && !renamed ? damaged(item, path.subspan(1), kind) : item;
    if (value.is_object())
      all[value.names()[i] + (here && renamed ? hostile : "")] = std::move(now);
    else
      all.push_back(std::move(now));
    if (here && renamed && value.is_array()) all.push_back(item);
  }
  return all;
}

/// Of one run.
struct Sample {
  std::string deck, folder;
  Json summary{};
  std::vector<Path> paths{};
  std::size_t n_damages() const { return paths.size() * n_kinds(); }
  Json damage(std::size_t n) const { return damaged(summary, paths[n / n_kinds()], n % n_kinds()); }
  /// "flow 0 axis", and what became of it.
  std::string place(std::size_t n) const {
    std::string text;
    const Json* at = &summary;
    for (const std::size_t i : paths[n / n_kinds()]) {
      text += (at->is_object() ? at->names()[i] : std::to_string(i)) + ' ';
      at = &at->begin()[i];
    }
    return fmt::format("{}({})", text, n % n_kinds());
  }
};

/// Pictures are drawn anew where a summary says how.
Figures figures_of(const Sample& s, const Json& summary) {
  Figures figures;
  const std::string plot = s.folder + "/plot.vtkhdf";
  if (!fs::exists(plot)) return figures;
  const FieldView view = view_of_plotfile(Comm::self(), plot);
  for (const Job& job : jobs()) job.draw(Comm::self(), summary, view, figures);
  return figures;
}

/// @param draws  with pictures, which take most of the time
Outcome attempt(const Sample& s, std::size_t n, bool draws) {
  try {
    const Json summary = Json::parse(s.damage(n).dump());
    const std::string html = run_report(summary, s.deck, draws ? figures_of(s, summary) : Figures{}, n % 2 == 0);
    for (const char* raw : {"<hostile", "\"hostile", "hostile'"})
      if (html.find(raw) != std::string::npos) return markup;
    return page;
  } catch (const Error&) {
    return refused;
  } catch (const std::exception& e) {
    fmt::print("{}\n", e.what());
    return exception;
  }
}

/// How far a process has come.
struct Shared {
  std::size_t at = 0;
  std::array<std::size_t, n_outcomes> found{};
};

void work(const Sample& s, std::size_t every, std::size_t drawn, Shared& shared) {
  for (; shared.at < s.n_damages(); shared.at += every) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 6);
    const rlimit limit{seconds, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
    const Outcome outcome = attempt(s, shared.at, shared.at / every % drawn == 0);
    ++shared.found[outcome];
    if (outcome > refused) fmt::print("{} {}: {}\n", names[outcome], s.folder, s.place(shared.at));
  }
}

void keep(const Sample& s, std::size_t n, const std::string& folder) {
  if (!folder.empty())
    std::ofstream(fmt::format("{}/{}_{}.json", folder, fs::path(s.folder).filename().string(), n))
        << s.damage(n).dump(2);
}

/// In processes of its own, a new one behind each crash.
void try_all(const Sample& s, std::size_t every, std::size_t drawn, const std::string& folder,
             std::array<std::size_t, n_outcomes>& found) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "no shared memory");
  Shared& shared = *new (memory) Shared;
  while (shared.at < s.n_damages()) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      work(s, every, drawn, shared);
      std::fflush(nullptr);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) continue;
    const Outcome outcome = WTERMSIG(status) == SIGXCPU ? hang : crash;
    ++shared.found[outcome];
    fmt::print("{} {}, {}: {}\n", names[outcome], s.folder, shared.at, s.place(shared.at));
    keep(s, shared.at, folder);
    shared.at += every;
  }
  for (std::size_t o = 0; o < n_outcomes; ++o) found[o] += shared.found[o];
  munmap(memory, sizeof(Shared));
}

/// Runs a deck; its results.
Sample sample_of(std::string_view deck, std::size_t number) {
  Sample s{std::string(deck), fmt::format("sample_{}", number)};
  std::ofstream("deck.toml") << deck;
  run_karst(Comm::world(), {"run", "deck.toml", "--overwrite", "--out", s.folder});
  std::ifstream in(s.folder + "/summary.json");
  s.summary = Json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  add_paths(s.summary, {}, s.paths);
  return s;
}

int run_all(std::span<char*> arguments) {
  constexpr std::size_t drawn = 20;  // every so many with pictures
  const std::size_t every = number_or(arguments, 1, 1), seed = number_or(arguments, 2, 0);
  const std::string kept = arguments.size() > 3 ? fs::absolute(arguments[3]).string() : "";
  std::string folder = (fs::temp_directory_path() / "karst_summaries_XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr && chdir(folder.c_str()) == 0, "{}: cannot be made", folder);
  make_sample_files();
  std::array<std::size_t, n_outcomes> found{};
  for (std::size_t n = 0; n < deck_samples().size(); ++n) {
    Sample s = sample_of(deck_samples()[n], n);
    std::rotate(s.paths.begin(), s.paths.begin() + static_cast<std::ptrdiff_t>(seed % s.paths.size()), s.paths.end());
    try_all(s, every, drawn, kept, found);
  }
  chdir("/") == 0 ? void(fs::remove_all(folder)) : void();
  print_outcomes(found, names);
  return status_of(found, refused + 1);
}

}  // namespace
}  // namespace karst::test

int main(int argc, char** argv) { return karst::test::run_damage(argc, argv, karst::test::run_all); }
