// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/job/job.hpp"
#include "app/job/run_folder.hpp"
#include "app/output/field_view.hpp"
#include "app/run/run_report.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/plain_file.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;
/// A file of the directory, on every rank. Throws Error on all ranks. Collective.
std::string text_of(const Comm& comm, const fs::path& path) {
  std::string text;
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    const std::optional<std::string> all = plain_text(path.string());
    require(all.has_value(), "{}: there is no regular file {}; expected: the directory of a finished `karst run`",
            path.parent_path().string(), path.filename().string());
    text = *all;
  });
  comm.broadcast(text);
  return text;
}

/// plot.vtkhdf, plot_x.vtkhdf ..., sorted. The same on every rank.
std::vector<std::string> plotfiles(const Comm& comm, const std::string& directory) {
  std::string found;
  if (comm.rank() == 0) {
    std::vector<std::string> names;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(directory, problem)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("plot") && name.ends_with(".vtkhdf") &&
          entry.symlink_status(problem).type() == fs::file_type::regular)
        names.push_back(entry.path().string());
    }
    std::ranges::sort(names);
    found = join(names, "\n");
  }
  comm.broadcast(found);
  return found.empty() ? std::vector<std::string>{} : split(found, '\n');
}

/// A view.html of this run: an earlier run in the directory may have left one.
bool has_view(const fs::path& directory) {
  std::error_code problem;
  const auto made = fs::last_write_time(directory / "view.html", problem);
  return !problem && made >= fs::last_write_time(directory / "summary.json", problem) && !problem;
}

}  // namespace

void report_command(const Comm& comm, const CommandLine& line) {
  const fs::path directory(line.directory);
  complete_results(comm, line.directory);
  const std::string text = text_of(comm, directory / "summary.json");
  const std::string deck = text_of(comm, directory / "deck.toml");
  const Json summary = Json::parse_or_null(text);
  require(summary.is_object(), "{}: is not JSON; expected: the file of a finished `karst run`",
          (directory / "summary.json").string());
  require(summary.value("status", "completed") == "completed",
          "{}: the run ended early ({}); a report needs a finished run: `karst run` with --resume continues it",
          line.directory, summary.value("reason", "no reason given"));
  require(summary.contains("solves"),
          "{}: contains the results of `karst geometry`; a report needs those of `karst run`", line.directory);
  Figures figures;
  for (const std::string& file : plotfiles(comm, line.directory)) {
    const FieldView view = view_of_plotfile(comm, file);
    try {
      for (const Job& job : jobs()) job.draw(comm, summary, view, figures);
    } catch (const JsonError& e) {  // on every rank: all have read the same text
      throw Error(fmt::format("{}: not from a finished `karst run` of this version: {}",
                              (directory / "summary.json").string(), e.what()));
    }
  }
  const std::string page = run_report(summary, deck, figures, has_view(directory));
  const std::string path = (directory / "report.html").string();
  write_file(comm, path, page);
  log_info("{}{}", path,
           comm.rank() == 0 && figures.empty()
               ? ": without renderings, because the run wrote no fields of its jobs (output.plot)"
               : "");
}

}  // namespace karst
