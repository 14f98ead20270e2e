// SPDX-License-Identifier: BSD-3-Clause
// `karst study`: each case is a `karst run` of its own, a few at a time, in a folder of the study. Cases that an
// earlier study has completed with the same deck and program are taken as they are, those that ended early go on.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <optional>
#include <thread>

#include "app/case_run.hpp"
#include "app/commands.hpp"
#include "app/config.hpp"
#include "app/study.hpp"
#include "base/atomic_file.hpp"
#include "base/child.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/orderly_end.hpp"
#include "base/run_guarded.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "io/publication.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A deck without its comments.
std::string without_comments(const std::string& deck) {
  std::string text;
  for (const std::string& line : split(deck, '\n'))
    if (!line.starts_with('#')) text += line + '\n';
  return text;
}

/// The complete decks of all cases. Throws Error with the mistakes of all.
std::vector<std::string> decks_of(const Study& study) {
  std::vector<std::string> decks, wrong;
  for (const StudyCase& c : study.cases) try {
      Reader in = Reader::from_file(study.deck, c.overrides);
      read_config(in);
      in.finish();
      decks.push_back(in.echo());
    } catch (const Error& e) {
      const std::string text = fmt::format("{} ({}): {}", c.name, join(c.values), e.what());
      if (wrong.size() < 20) wrong.push_back(text);
    }
  require(wrong.empty(), "{}", join(wrong, "\n"));
  return decks;
}

/// A case on its way.
struct Running {
  std::size_t place;
  Child child;
};

class StudyRun {
 public:
  /// @param scaling_of  the time whose speed-up is told; empty: none
  StudyRun(const Comm& comm, const CommandLine& line, StudyTable table, std::string folder, std::string scaling_of)
      : comm_(comm),
        line_(line),
        table_(std::move(table)),
        folder_(std::move(folder)),
        scaling_of_(std::move(scaling_of)),
        decks_(decks_of(table_.study)) {
    table_.rows.resize(table_.study.cases.size(), {"not run", "", {}});
    summaries_.resize(table_.rows.size());
  }

  /// Throws ExitStatus where the study is asked to end, when the cases on their way have ended.
  void run() {
    const OrderlyEnd orderly(comm_, 0.0);
    std::list<Running> running;
    std::size_t next = 0;
    try {
      while (next < table_.rows.size() || !running.empty()) {
        while (next < table_.rows.size() && std::ssize(running) < line_.parallel) begin(next++, running);
        std::erase_if(running, [&](Running& r) { return ended(r); });
        end_if_asked(comm_);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        show(running);
      }
    } catch (const EarlyEnd& end) {
      for (const Running& r : running) r.child.ask_to_end();
      while (!running.empty()) {
        std::erase_if(running, [&](Running& r) { return ended(r); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      leave();
      log_warn("{}; the same command goes on", end.reason);
      throw ExitStatus{end.status};
    }
  }

  /// Writes table and page.
  void leave() {
    table_.columns = columns_of(table_.columns, summaries_);
    std::vector<std::string> wanted = table_.columns;
    if (!scaling_of_.empty()) wanted.push_back(scaling_of_);
    for (std::size_t i = 0; i < table_.rows.size(); ++i)
      for (const std::string& column : wanted) table_.rows[i].of[column] = number_at(summaries_[i], column);
    if (!scaling_of_.empty()) add_scaling(table_, scaling_of_);
    write_file(comm_, folder_ + "/study.csv", study_csv(table_));
    write_file(comm_, folder_ + "/study.json", study_json(table_));
    write_file(comm_, folder_ + "/study.html", study_page(table_));
  }

  const StudyTable& table() const { return table_; }

  /// A batch script for each case that is not completed, and one that hands them in: its name, or nothing where all are
  /// completed.
  std::optional<std::string> write_batch_scripts() const {
    std::vector<std::string> scripts;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      if (is_there(i)) continue;
      scripts.push_back(fs::absolute(place_of(i)).string() + ".sbatch");
      write_file(comm_, scripts.back(), slurm_script(run_of(i)));
    }
    const std::string submit = folder_ + "/submit.sh";
    if (scripts.empty()) {
      fs::remove(submit);
      return {};
    }
    write_file(comm_, submit, submit_script(scripts));
    return submit;
  }

 private:
  std::string place_of(std::size_t i) const { return folder_ + "/" + table_.study.cases[i].name; }

  std::string note_of(std::size_t i) const { return place_of(i) + ".settings"; }

  /// On the ranks and threads of the case, where it says any, with its settings.
  bool ran_as_asked(const Json& summary, std::size_t i) const {
    const StudyCase& c = table_.study.cases[i];
    return (c.ranks == 0 || summary.value("ranks", 0) == c.ranks) &&
           (c.threads == 0 || summary.value("threads", 0) == c.threads) &&
           text_of(note_of(i)) == settings_of(run_of(i));
  }

  /// An earlier study has completed the case.
  bool is_there(std::size_t i) const {
    const Json summary = Json::parse_or_null(text_of(fs::path(place_of(i)) / "summary.json"));
    return !line_.overwrite && summary.is_object() && summary.value("status", "completed") == "completed" &&
           summary.value("karst", "") == version_and_git_id() && ran_as_asked(summary, i) &&
           without_comments(text_of(fs::path(place_of(i)) / "deck.toml")) == without_comments(decks_[i]);
  }

  /// What starts a case.
  CaseRun run_of(std::size_t i) const {
    const StudyCase& c = table_.study.cases[i];
    const bool goes_on = !line_.overwrite && fs::exists(solves(place_of(i)));
    CaseRun run;
    run.name = c.name;
    run.ranks = c.ranks > 0 ? c.ranks : line_.ranks;
    run.threads = c.threads > 0 ? c.threads : line_.threads;
    run.more_than_cores = c.ranks > 1;
    run.bind = c.bind;
    run.environment = c.environment;
    run.command = {fs::read_symlink("/proc/self/exe").string(), "run", table_.study.deck, "--out", place_of(i),
                   goes_on ? "--resume" : "--overwrite"};
    if (run.threads > 0) run.command.insert(run.command.end(), {"-j", fmt::format("{}", run.threads)});
    run.command.insert(run.command.end(), c.overrides.begin(), c.overrides.end());
    run.directory = fs::current_path().string();
    run.log = fs::absolute(place_of(i)).string() + ".txt";
    run.note = fs::absolute(note_of(i)).string();
    return run;
  }

  void begin(std::size_t i, std::list<Running>& running) {
    if (is_there(i)) return take(i, "there already");
    running.push_back({i, Child(command_here(run_of(i)), place_of(i) + ".txt")});
  }

  bool ended(Running& r) {
    const std::optional<int> status = r.child.status();
    if (!status) return false;
    if (*status == 0 || is_there(r.place)) {  // it may be asked to end when all is done
      fs::remove(place_of(r.place) + ".txt");
      fs::remove(note_of(r.place));
      if (const std::string settings = settings_of(run_of(r.place)); !settings.empty())
        write_file(comm_, note_of(r.place), settings);
      take(r.place, "done");
      return true;
    }
    StudyRow& row = table_.rows[r.place];
    row.status = *status == 1 ? "failed" : "interrupted";
    const std::string said = text_of(place_of(r.place) + ".txt");
    const std::size_t error = said.rfind("error:");
    row.reason = error == std::string::npos ? fmt::format("status {}", *status) : said.substr(error + 7);
    row.reason.erase(row.reason.find_last_not_of(" \n") + 1);
    log_info("{}: {} ({}); what it said is in {}.txt", name(r.place), row.status, row.reason, place_of(r.place));
    return true;
  }

  /// The results of a completed case.
  void take(std::size_t i, const char* how) {
    table_.rows[i].status = "completed";
    summaries_[i] = Json::parse_or_null(text_of(fs::path(place_of(i)) / "summary.json"));
    log_info("{}: {}", name(i), how);
  }

  std::string name(std::size_t i) const {
    const StudyCase& c = table_.study.cases[i];
    std::vector<std::string> values;
    for (std::size_t v = 0; v < c.values.size(); ++v) values.push_back(table_.study.varied[v] + " " + c.values[v]);
    return fmt::format("{} of {}, {}", c.name, table_.rows.size(), join(values));
  }

  /// How far the first of those under way is.
  void show(const std::list<Running>& running) {
    if (running.empty() || !progress_.is_due()) return;
    const auto done = std::ranges::count_if(table_.rows, [](const StudyRow& r) { return r.status != "not run"; });
    const std::optional<LockNote> lock = read_lock(place_of(running.front().place));
    const Json said = lock ? Json::parse_or_null(lock->said) : Json();
    const bool told = said.is_object() && said.contains("part");
    const double part = told ? said.at("part").get<double>() : 0.0;
    progress_.write({(static_cast<double>(done) + part) / static_cast<double>(table_.rows.size()), std::nan(""),
                     table_.study.cases[running.front().place].name, told ? said.value("what", "") : ""});
  }

  const Comm& comm_;
  const CommandLine& line_;
  StudyTable table_;
  std::string folder_, scaling_of_;
  std::vector<std::string> decks_;
  std::vector<Json> summaries_;
  Progress progress_;
};

/// The cases, and what they set.
std::string list_text(const Study& study) {
  std::string text =
      fmt::format("{} case{} of {}\n", study.cases.size(), study.cases.size() == 1 ? "" : "s", study.deck);
  for (const StudyCase& c : study.cases) {
    std::vector<std::string> set = c.overrides;
    set.insert(set.end(), c.environment.begin(), c.environment.end());
    if (c.ranks > 0) set.push_back(fmt::format("{} ranks", c.ranks));
    if (c.threads > 0) set.push_back(fmt::format("{} threads", c.threads));
    if (!c.bind.empty()) set.push_back("bound to " + c.bind);
    text += fmt::format("  {}  {}\n", c.name, join(set, "  "));
  }
  return text;
}

}  // namespace

void study_command(const Comm& comm, const CommandLine& line) {
  require(comm.size() == 1, "karst study starts its runs itself: leave mpirun out, and give --ranks {}", comm.size());
  Reader in = Reader::from_file(line.deck);
  StudyOptions options;
  read(in, options);
  in.finish();
  StudyTable table{make_study(options, in.directory(), line.overrides), options.columns, {}};
  if (line.list) return log_info("{}", list_text(table.study));
  const std::string folder = line.out.empty() ? options.directory : line.out;
  const bool scaling = !options.ranks.empty() || !options.threads.empty();
  require(!scaling || line.parallel == 1, "--parallel {}: runs whose time is compared go one at a time; leave it out",
          line.parallel);
  require(options.ranks.empty() || line.ranks == 1, "--ranks {}: the study says the ranks itself, scaling.ranks",
          line.ranks);
  StudyRun study(comm, line, std::move(table), folder, scaling ? options.scaling_of : "");
  std::error_code problem;
  fs::create_directories(folder, problem);
  require(!problem, "output directory {}: cannot be made: {}", folder, problem.message());
  const DirectoryLock lock(folder);
  log_info("{}{} cases of {}\n", options.title.empty() ? "" : options.title + ": ", study.table().study.cases.size(),
           study.table().study.deck);
  if (line.slurm) {
    const std::optional<std::string> submit = study.write_batch_scripts();
    return log_info("{} this command without --slurm makes table and page of them",
                    submit ? fmt::format("bash {} --time=... hands the cases in; when they have ended,", *submit)
                           : "All cases are completed, none is left to hand in;");
  }
  study.run();
  study.leave();
  log_info("\n{}\nTable and charts: {}/study.html, study.csv, study.json", study_text(study.table()), folder);
  const auto failed = std::ranges::count(study.table().rows, "failed", &StudyRow::status);
  require(failed == 0, "{} of {} cases failed; the others are in the table, and the same command runs those again",
          failed, study.table().rows.size());
}

}  // namespace karst
