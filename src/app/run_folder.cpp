// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "io/agree.hpp"
#include "io/run_directory.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

constexpr const char* staging_name = ".karst-unfinished";

/// Parts of the path that do not exist, outermost first.
std::vector<std::string> missing_parts(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code problem;
  for (fs::path p = fs::absolute(path).lexically_normal(); !p.empty() && !fs::exists(p, problem) && p != p.root_path();
       p = p.parent_path())
    if (p.has_filename()) missing.insert(missing.begin(), p.string());
  return missing;
}

}  // namespace

RunFolder::RunFolder(const Comm& comm, std::string path, bool overwrite)
    : comm_(comm), path_(std::move(path)), staging_(path_ + "/" + staging_name) {
  std::string missing;
  if (comm.rank() == 0) missing = join(missing_parts(path_), "\n");
  comm.broadcast(missing);
  if (!missing.empty()) made_ = split(missing, '\n');
  if (!overwrite || !made_.empty()) prepare_run_directory(comm, path_, overwrite);
  agree(comm, [&] {
    if (comm_.rank() != 0) return;
    require(fs::is_directory(path_), "output directory {}: a file of this name exists; choose another name", path_);
    std::error_code problem;
    fs::remove_all(staging_, problem);  // of a run that was killed
    fs::create_directory(staging_, problem);
    require(!problem, "output directory {}: cannot write there: {}", path_, problem.message());
  });
}

RunFolder::~RunFolder() {
  if (published_) return;
  std::error_code ignored;
  for (int tries = 0; tries < 100 && fs::exists(staging_, ignored); ++tries)
    fs::remove_all(staging_, ignored);  // another rank may be removing the same files
  for (auto p = made_.rbegin(); p != made_.rend(); ++p) fs::remove(*p, ignored);  // only when empty
}

std::vector<std::string> RunFolder::publish() {
  std::string removed = join(prepare_run_directory(comm_, path_, true), "\n");  // known to rank 0
  comm_.broadcast(removed);
  agree(comm_, [&] {
    if (comm_.rank() != 0) return;
    try {
      for (const auto& entry : fs::directory_iterator(staging_))
        if (entry.path().filename() != "summary.json")
          fs::rename(entry.path(), fs::path(path_) / entry.path().filename());
      fs::rename(file("summary.json"), fs::path(path_) / "summary.json");
      fs::remove(staging_);
    } catch (const fs::filesystem_error& e) {
      throw Error(
          fmt::format("output directory {}: cannot move the results to their place: {}", path_, e.code().message()));
    }
  });
  published_ = true;
  return removed.empty() ? std::vector<std::string>{} : split(removed, '\n');
}

void tell_results(const RunFolder& folder, const std::vector<ResultFile>& files,
                  const std::vector<std::string>& removed) {
  if (!removed.empty()) log_info("Replaced the {} files of an earlier run in {}", removed.size(), folder.path());
  log_info("Results in {}:", folder.path());
  const auto tell = [](const ResultFile& file) { log_info("  {:<18}{}", file.name, file.use); };
  std::ranges::for_each(files, tell);
  tell({"deck.toml", "the complete deck as used"});
  tell({"timers.txt", "times of all parts, memory by purpose"});
  tell({"log.txt", "this text"});
}

}  // namespace karst
