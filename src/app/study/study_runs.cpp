// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/study_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/deck/config.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/version.hpp"
#include "base/deck/deck_echo.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/child.hpp"
#include "base/file/json.hpp"
#include "base/file/orderly_end.hpp"
#include "base/file/plain_file.hpp"
#include "base/file/program_path.hpp"
#include "io/publication.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) { return plain_text(path).value_or(""); }

/// A deck without its comments.
std::string without_comments(const std::string& deck) {
  std::string text;
  for (const std::string& line : split(deck, '\n'))
    if (!line.starts_with('#')) text += line + '\n';
  return text;
}

/// Along which a job computes something that is 0 where no pore leads through.
std::vector<int> axes_to_lead(const Config& config) {
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis) {
    const bool flow = config.flow.model != FlowModel::none && std::ranges::count(config.flow.axes, axis) > 0;
    if (flow || std::ranges::count(config.diffusion.axes, axis) > 0) axes.push_back(axis);
  }
  return axes;
}

/// The complete decks of all cases. Throws Error with the mistakes of all.
std::vector<CaseDeck> decks_of(const Study& study) {
  std::vector<CaseDeck> decks;
  Messages wrong;
  for (const StudyCase& c : study.cases) try {
      Reader in = Reader::from_file(study.deck, c.overrides);
      const Config config = read_config(in);
      in.finish();
      decks.push_back({in.echo(), axes_to_lead(config)});
    } catch (const Error& e) {
      if (wrong.size() < 20) wrong.add("{} ({}): {}", c.name, join(c.values), e.what());
    }
  wrong.finish();
  return decks;
}

Json summary_in(const std::string& folder) { return Json::of_file(folder + "/summary.json"); }

bool is_completed(const Json& summary) {
  return summary.is_object() && summary.value("status", "completed") == "completed";
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

/// A case on its way.
struct StudyRuns::Running {
  std::size_t place;
  Child child;
};

StudyRuns::StudyRuns(const Comm& comm, const CommandLine& line, const Study& study, std::string folder,
                     StudyRules rules)
    : comm_(comm),
      line_(line),
      study_(study),
      folder_(std::move(folder)),
      rules_(rules),
      decks_(decks_of(study)),
      rows_(study.cases.size(), {"not run", "", {}}),
      summaries_(study.cases.size()) {}

StudyRuns::~StudyRuns() = default;

void StudyRuns::run() {
  std::list<Running> running;
  std::size_t next = 0;
  try {
    while (next < rows_.size() || !running.empty()) {
      while (next < rows_.size() && std::ssize(running) < line_.parallel) begin(next++, running);
      std::erase_if(running, [&](Running& r) { return ended(r); });
      end_if_asked(comm_);
      if (!rules_.past_failures) require_none_failed();
      wait_a_little();
      show(running);
    }
  } catch (const EarlyEnd&) {
    for (const Running& r : running) r.child.ask_to_end();
    while (!running.empty()) {
      std::erase_if(running, [&](Running& r) { return ended(r); });
      wait_a_little();
    }
    throw;
  }
}

std::string StudyRuns::folder_of(std::size_t i) const { return folder_ + "/" + study_.cases[i].name; }

std::string StudyRuns::note_of(std::size_t i) const { return folder_of(i) + ".settings"; }

/// On the ranks and threads of the case, where it says any, with its settings.
bool StudyRuns::ran_as_asked(const Json& summary, std::size_t i) const {
  const StudyCase& c = study_.cases[i];
  return (c.ranks == 0 || summary.value("ranks", 0) == c.ranks) &&
         (c.threads == 0 || summary.value("threads", 0) == c.threads) && text_of(note_of(i)) == settings_of(run_of(i));
}

bool StudyRuns::is_there(std::size_t i) const {
  const Json summary = summary_in(folder_of(i));
  return !line_.overwrite && is_completed(summary) && summary.value("karst", "") == version_and_git_id() &&
         ran_as_asked(summary, i) &&
         without_comments(text_of(folder_of(i) + "/deck.toml")) == without_comments(decks_[i].text);
}

void StudyRuns::require_no_others() const {
  if (line_.overwrite) return;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (!is_there(i) && is_completed(summary_in(folder_of(i)))) others.push_back(folder_of(i));
  require(others.empty(),
          "{}{}: contains results of a run with another deck, settings or version of Karst; choose another directory "
          "with --out, or give --overwrite to replace them",
          others.empty() ? "" : others.front(),
          others.size() > 1 ? fmt::format(" and {} more", others.size() - 1) : "");
}

CaseRun StudyRuns::run_of(std::size_t i) const {
  const StudyCase& c = study_.cases[i];
  const bool goes_on = rules_.go_on && !line_.overwrite && fs::exists(solves(folder_of(i)));
  CaseRun run;
  run.name = c.name;
  run.ranks = c.ranks > 0 ? c.ranks : line_.ranks;
  run.threads = c.threads > 0 ? c.threads : line_.threads;
  run.more_than_cores = c.ranks > 1;
  run.bind = c.bind;
  run.environment = c.environment;
  run.command = {
      program_path().string(), "run", study_.deck, "--out", folder_of(i), goes_on ? "--resume" : "--overwrite"};
  if (run.threads > 0) run.command.insert(run.command.end(), {"-j", fmt::format("{}", run.threads)});
  run.command.insert(run.command.end(), c.overrides.begin(), c.overrides.end());
  run.directory = fs::current_path().string();
  run.log = fs::absolute(folder_of(i)).string() + ".txt";
  run.note = fs::absolute(note_of(i)).string();
  return run;
}

void StudyRuns::begin(std::size_t i, std::list<Running>& running) {
  if (is_there(i)) return take(i, "done before");
  running.push_back({i, Child(command_here(run_of(i)), folder_of(i) + ".txt")});
}

bool StudyRuns::ended(Running& r) {
  const std::optional<int> status = r.child.status();
  if (!status) return false;
  if (*status == 0 || is_there(r.place)) {  // it may be asked to end when all is done
    fs::remove(folder_of(r.place) + ".txt");
    fs::remove(note_of(r.place));
    if (const std::string settings = settings_of(run_of(r.place)); !settings.empty())
      write_file(comm_, note_of(r.place), settings);
    take(r.place, "done");
    return true;
  }
  StudyRow& row = rows_[r.place];
  row.status = *status == 1 ? "failed" : "interrupted";
  const std::string said = text_of(folder_of(r.place) + ".txt");
  const std::size_t error = said.rfind("error:");
  row.reason = error == std::string::npos ? fmt::format("status {}", *status) : said.substr(error + 7);
  row.reason.erase(row.reason.find_last_not_of(" \n") + 1);
  if (rules_.past_failures)
    log_info("{}: {} ({}); its output is in {}.txt", name(r.place), row.status, row.reason, folder_of(r.place));
  return true;
}

void StudyRuns::require_none_failed() const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    require(rows_[i].reason.empty(), "{} {} ({}); its output is in {}.txt", name(i), rows_[i].status, rows_[i].reason,
            folder_of(i));
}

/// The results of a completed case.
void StudyRuns::take(std::size_t i, const char* how) {
  rows_[i].status = "completed";
  summaries_[i] = summary_in(folder_of(i));
  rows_[i].remark = remark_on(summaries_[i], decks_[i].axes);
  log_info("{}: {}{}", name(i), how, rows_[i].remark.empty() ? "" : ", " + rows_[i].remark);
}

std::string StudyRuns::name(std::size_t i) const {
  const StudyCase& c = study_.cases[i];
  std::string text = fmt::format("{} of {}", c.name, rows_.size());
  for (std::size_t v = 0; v < c.values.size(); ++v) text += ", " + study_.varied[v] + " " + c.values[v];
  return text;
}

/// How far the first of those under way is.
void StudyRuns::show(const std::list<Running>& running) {
  if (running.empty() || !progress_.is_due()) return;
  const auto done = std::ranges::count_if(rows_, [](const StudyRow& r) { return r.status != "not run"; });
  const std::optional<LockNote> lock = read_lock(folder_of(running.front().place));
  const Json said = lock ? Json::parse_or_null(lock->said) : Json();
  const bool told = said.is_object() && said.contains("part");
  const double part = told ? said.at("part").get<double>() : 0.0;
  progress_.write({(static_cast<double>(done) + part) / static_cast<double>(rows_.size()), std::nan(""),
                   study_.cases[running.front().place].name, told ? said.value("what", "") : ""});
}

void make_study_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  require(!problem, "output directory {}: cannot be made: {}", folder, problem.message());
}

namespace {

/// As one word of a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// As the value of a directive, which sbatch reads as a line of words: quotes group them, \ takes the meaning off the
/// letter behind it (sbatch(1)). What no line of words holds is an Error: the line after it would be a command.
std::string in_directive(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\',
            "{}: a path with a line break, another control character or a \\ cannot be given to sbatch; rename the "
            "directory",
            toml_text(path));
    if (c == '"') text += '\\';
    text += c;
  }
  return text + '"';
}

/// As the name of a file, in which % stands for numbers of the job.
std::string file_in_directive(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return in_directive(text);
}

/// The program of one rank, with its environment set.
std::vector<std::string> program_of(const CaseRun& run) {
  std::vector<std::string> words;
  if (!run.environment.empty()) words.emplace_back("env");
  words.insert(words.end(), run.environment.begin(), run.environment.end());
  words.insert(words.end(), run.command.begin(), run.command.end());
  return words;
}

int cores_of(const CaseRun& run) { return std::max(run.threads, 1); }

/// As srun names what ranks are bound to.
std::string slurm_bind(const std::string& bind) {
  if (bind == "none" || bind.empty()) return bind.empty() ? "cores" : "none";
  return bind == "numa" ? "ldoms" : bind + "s";
}

}  // namespace

std::string settings_of(const CaseRun& run) {
  std::vector<std::string> words = run.environment;
  if (!run.bind.empty()) words.push_back("bound to " + run.bind);
  return join(words, "\n");
}

std::vector<std::string> command_here(const CaseRun& run) {
  std::vector<std::string> words;
  const bool free = run.bind.empty() || run.bind == "none";
  if (run.ranks > 1 || !run.bind.empty()) {
    words = {"mpirun", "-n", fmt::format("{}", run.ranks), "--bind-to", free ? "none" : run.bind};
    if (!free) {
      words.emplace_back("--map-by");
      words.push_back(run.bind == "core" ? fmt::format("slot:PE={}", cores_of(run)) : run.bind);
    }
    if (run.more_than_cores && free) words.emplace_back("--oversubscribe");
  }
  const std::vector<std::string> program = program_of(run);
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::string slurm_script(const CaseRun& run) {
  std::string text = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --ntasks={}\n#SBATCH --cpus-per-task={}\n#SBATCH --chdir={}\n"
      "#SBATCH --output={}\n"
      "# Threads on neighbouring cores; srun does not take --cpus-per-task from sbatch everywhere.\n"
      "export OMP_PLACES=cores OMP_PROC_BIND=close\nsrun --ntasks={} --cpus-per-task={} --cpu-bind={}",
      in_directive(run.name), run.ranks, cores_of(run), in_directive(run.directory), file_in_directive(run.log),
      run.ranks, cores_of(run), slurm_bind(run.bind));
  for (const std::string& word : program_of(run)) text += " \\\n  " + quoted(word);
  if (const std::string settings = settings_of(run); !settings.empty())
    text += fmt::format(" &&\n  printf %s {} > {}", quoted(settings), quoted(run.note));
  return text + '\n';
}

std::string submit_script(const std::vector<std::string>& scripts) {
  std::string text =
      "#!/bin/bash\n# What is given to this script goes to each sbatch: --account=NAME --partition=NAME "
      "--time=01:00:00\n"
      "set -e\n";
  for (const std::string& script : scripts) text += fmt::format("sbatch \"$@\" {}\n", quoted(script));
  return text;
}

}  // namespace karst
