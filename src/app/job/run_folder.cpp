// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/run_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/items_of.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"
#include "base/file/plain_file.hpp"
#include "io/result_names.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

/// What lies in a folder under the name of a result, sorted.
std::vector<std::string> results_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_result_name(entry.path().filename().string())) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// The summary of the run whose results lie in a folder; null where there is none.
Json summary_in(const fs::path& folder) {
  return Json::parse_or_null(plain_text((folder / "summary.json").string()).value_or(""));
}

/// What the run whose results lie in a folder says it made; older versions do not say it: then all that has the name of
/// a result. Nothing where there is no summary of Karst.
std::vector<std::string> made_by_earlier_run(const fs::path& folder) {
  const Json summary = summary_in(folder);
  if (!summary.is_object() || !summary.contains("karst")) return {};
  if (!summary.contains("files") || !summary.at("files").is_array()) return results_in(folder);
  std::vector<std::string> names;
  for (const Json& file : summary.at("files"))
    if (file.is_text() && is_result_name(file.get<std::string>())) names.push_back(file.get<std::string>());
  return names;
}

/// The run whose summary lies in a folder failed or was interrupted.
bool ended_early(const fs::path& folder) {
  const Json summary = summary_in(folder);
  return summary.is_object() && summary.value("status", "completed") != "completed";
}

/// Removes what a run made in its folder, and the folder, without the finished solves. Several ranks may do so at once.
void clear(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(staging(path), ignored))) return;
  for (int tries = 0; tries < 100; ++tries) {
    bool left = false;
    for (const auto& entry : fs::directory_iterator(staging(path), ignored)) {
      if (entry.path() == fs::path(solves(path)) && !fs::is_empty(entry.path(), ignored)) continue;
      fs::remove_all(entry.path(), ignored);
      left = left || fs::exists(entry.path(), ignored);
    }
    if (!left) break;
  }
  fs::remove(staging(path), ignored);  // only when empty
}

/// Parts of the path that do not exist, outermost first.
std::vector<std::string> missing_parts(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code problem;
  for (fs::path p = fs::absolute(path).lexically_normal(); !p.empty() && !fs::exists(p, problem) && p != p.root_path();
       p = p.parent_path())
    if (p.has_filename()) missing.insert(missing.begin(), p.string());
  return missing;
}

void make_directory(const std::string& path) {
  std::error_code problem;
  const fs::file_status now = fs::status(path, problem);
  require(!fs::exists(now) || fs::is_directory(now),
          "output directory {}: a file of this name exists; choose another name", path);
  fs::create_directories(path, problem);
  require(!problem, "output directory {}: cannot be made: {}", path, problem.message());
}

/// No result may take the place of a file that is read.
void keep_inputs(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    const fs::path file = fs::weakly_canonical(input, ignored);
    const bool inside = fs::equivalent(file.parent_path(), path, ignored);
    require(!inside || !is_result_name(file.filename().string()),
            "output directory {}: this run reads {}, which has the name of one of its results; move it, or choose "
            "another directory",
            path, input);
  }
}

/// No result may take the place of something that no run made.
void keep_what_is_not_ours(const std::string& path, const std::vector<std::string>& there,
                           const std::vector<std::string>& earlier) {
  for (const std::string& name : there) {
    const fs::path file = fs::path(path) / name;
    require(fs::is_regular_file(fs::symlink_status(file)) && std::ranges::find(earlier, name) != earlier.end(),
            "output directory {}: {} has the name of a result but {}; move it, or choose another directory", path, name,
            fs::is_regular_file(fs::symlink_status(file)) ? "is not among the files that the summary.json there lists"
                                                          : "is not a regular file");
  }
}

}  // namespace

/// What may not be lost unasked.
void RunFolder::check_earlier(bool overwrite, bool resume) {
  std::error_code ignored;
  std::int64_t n_solves = 0;
  for (const auto& entry : fs::directory_iterator(solves(), ignored)) n_solves += entry.path().extension() == ".h5";
  require(n_solves == 0 || overwrite || resume,
          "output directory {}: a run ended early there and left {} finished solve{} (in {}); `karst run` with "
          "--resume continues from {}, --overwrite starts again",
          path_, n_solves, n_solves == 1 ? "" : "s", staging_, n_solves == 1 ? "it" : "them");
  has_earlier_solves_ = resume && n_solves > 0;
  const std::vector<std::string> there = results_in(path_);
  require(there.empty() || overwrite || has_earlier_solves_ || ended_early(path_),
          "output directory {}: contains the results of another run ({}{}); choose another directory, or give "
          "--overwrite to replace them",
          path_, there.empty() ? "" : there.front(),
          there.size() > 1 ? fmt::format(" and {} more files", there.size() - 1) : "");
  earlier_ = made_by_earlier_run(path_);
  keep_what_is_not_ours(path_, there, earlier_);
}

void RunFolder::prepare(bool overwrite, const std::vector<std::string>& inputs, bool resume) {
  require(!path_.empty(), "no output directory is given; give output.directory or --out DIR");
  try {
    made_ = missing_parts(path_);
    make_directory(path_);
    keep_inputs(path_, inputs);
    lock_ = std::make_unique<DirectoryLock>(path_);
    on_signals_ = std::make_unique<RemovedOnSignals>();
    for (const std::string& made : made_) on_signals_->add(made);
    on_signals_->add(staging_);
    on_signals_->add(path_ + "/karst.lock");
    is_complete_ = complete_publication(path_) && resume;
    if (is_complete_) return;
    check_earlier(overwrite, resume);
    if (!resume) fs::remove_all(solves());
    clear(path_);
    fs::create_directory(staging_);
  } catch (const fs::filesystem_error& e) {
    throw Error(fmt::format("output directory {}: cannot write there: {}", path_, e.code().message()));
  }
}

RunFolder::RunFolder(const Comm& comm, std::string path, bool overwrite, const std::vector<std::string>& inputs,
                     bool resume)
    : comm_(comm), path_(std::move(path)), staging_(staging(path_)) {
  try {
    fail_together(comm, [&] {
      if (comm_.rank() == 0) prepare(overwrite, inputs, resume);
    });
  } catch (const Error&) {
    on_signals_.reset();
    lock_.reset();
    std::error_code ignored;
    for (auto p = made_.rbegin(); p != made_.rend(); ++p) fs::remove(*p, ignored);  // only when empty
    throw;
  }
  std::string made = join(made_, "\n");  // the first rank that fails removes them
  comm_.broadcast(made);
  if (!made.empty()) made_ = split(made, '\n');
  has_earlier_solves_ = comm_.any(has_earlier_solves_);
  is_complete_ = comm_.any(is_complete_);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!published_ && (!works_ || comm_.rank() == 0)) {
    clear(path_);
    lock_.reset();
    for (auto p = made_.rbegin(); p != made_.rend(); ++p) fs::remove(*p, ignored);  // only when empty
  }
}

std::string RunFolder::file(const std::string& name) const {
  std::string path = staging_ + "/" + name;
  if (on_signals_) on_signals_->add(path);
  return path;
}

void RunFolder::begin_work() {
  on_signals_.reset();
  works_ = true;
}

void RunFolder::say(const std::string& line) const {
  if (lock_ != nullptr) lock_->say(line);
}

std::string RunFolder::leave(const std::vector<std::string>& names) {
  const bool has_results = fs::exists(fs::path(path_) / "summary.json") && !ended_early(path_);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(staging_, ignored))
    if (entry.path() != fs::path(solves()) && std::ranges::count(names, entry.path().filename().string()) == 0)
      fs::remove_all(entry.path(), ignored);
  published_ = true;
  if (has_results) return staging_;
  karst::publish(path_, earlier_, Solves::keep);
  return path_;
}

std::vector<std::string> RunFolder::names() const {
  std::string all;
  if (comm_.rank() == 0) {
    std::vector<std::string> names{"summary.json"};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(staging_, ignored))
      if (const std::string name = entry.path().filename().string(); is_result_name(name)) names.push_back(name);
    std::ranges::sort(names);
    erase_repeated(names);
    all = join(names, "\n");
  }
  comm_.broadcast(all);
  return split(all, '\n');
}

std::vector<std::string> RunFolder::publish() {
  on_signals_.reset();
  // A request to end comes too late: older results are not left beside some of the new ones.
  const OrderlyEnd in_one_piece(comm_, 0.0, "the results are being moved to their place");
  try {
    fail_together(comm_, [&] {
      if (comm_.rank() == 0) karst::publish(path_, earlier_);
    });
  } catch (const Error&) {
    published_ = comm_.any(comm_.rank() == 0 && is_half_published(path_));  // then the new results stay where they are
    throw;
  }
  published_ = true;
  std::string replaced = join(earlier_, "\n");
  comm_.broadcast(replaced);
  return replaced.empty() ? std::vector<std::string>{} : split(replaced, '\n');
}

void complete_results(const Comm& comm, const std::string& path) {
  fail_together(comm, [&] {
    if (comm.rank() != 0 || !is_half_published(path)) return;
    const DirectoryLock lock(path);
    if (complete_publication(path))
      log_info("{}: the results of a run that was stopped while it moved them are complete", path);
  });
}

void tell_results(const RunFolder& folder, const std::vector<ResultFile>& files,
                  const std::vector<std::string>& replaced) {
  if (!replaced.empty()) log_info("Replaced the {} files of an earlier run in {}", replaced.size(), folder.path());
  log_info("Results in {}:", folder.path());
  const auto tell = [](const ResultFile& file) { log_info("  {:<17} {}", file.name, file.use); };
  std::ranges::for_each(files, tell);
  tell({"deck.toml", "the complete deck as used"});
  tell({"timers.txt", "times of all parts, memory by purpose; timers.json for programs"});
  tell({"log.txt", "this text, with the counts of cells, repairs and solves"});
}

}  // namespace karst
