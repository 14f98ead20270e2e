// SPDX-License-Identifier: BSD-3-Clause
#include "io/run_directory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "io/agree.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

struct Pattern {
  std::string_view begin, end;  ///< of the name; the whole name when end is empty
};

constexpr std::array<Pattern, 13> own_files{{{"summary.json", ""},
                                             {"report.html", ""},
                                             {"geometry.vtkhdf", ""},
                                             {"imported_image.h5", ""},
                                             {"history.csv", ""},
                                             {"inertia.csv", ""},
                                             {"deck.toml", ""},
                                             {"log.txt", ""},
                                             {"timers.txt", ""},
                                             {"timers.json", ""},
                                             {"trace.json", ""},
                                             {"plot", ".vtkhdf"},
                                             {"checkpoint", ".h5"}}};

/// Own files in a folder, sorted.
std::vector<std::string> results_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!entry.is_directory() && is_own_file(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> prepare(const std::string& path, bool overwrite) {
  require(!path.empty(), "no output directory is named; give output.directory or --out DIR");
  std::error_code problem;
  const fs::file_status now = fs::status(path, problem);
  require(!fs::exists(now) || fs::is_directory(now),
          "output directory {}: a file of this name exists; choose another name", path);
  fs::create_directories(path, problem);
  require(!problem, "output directory {}: cannot be made: {}", path, problem.message());
  require(::access(path.c_str(), W_OK | X_OK) == 0, "output directory {}: no permission to write there", path);
  try {
    const std::vector<std::string> old = results_in(path);
    require(
        old.empty() || overwrite,
        "output directory {}: holds the results of another run ({}{}); name another directory, or give --overwrite to "
        "replace them",
        path, old.empty() ? "" : old.front(), old.size() > 1 ? fmt::format(" and {} more files", old.size() - 1) : "");
    for (const std::string& name : old) fs::remove(fs::path(path) / name);
    return old;
  } catch (const fs::filesystem_error& e) {
    throw Error(fmt::format("output directory {}: {}", path, e.code().message()));
  }
}

}  // namespace

bool is_own_file(const std::string& name) {
  return std::ranges::any_of(own_files, [&](const Pattern& p) {
    if (p.end.empty()) return name == p.begin;
    return name.size() >= p.begin.size() + p.end.size() && name.starts_with(p.begin) && name.ends_with(p.end);
  });
}

std::vector<std::string> prepare_run_directory(const Comm& comm, const std::string& path, bool overwrite) {
  std::vector<std::string> removed;
  agree(comm, [&] {
    if (comm.rank() == 0) removed = prepare(path, overwrite);
  });
  return removed;
}

}  // namespace karst
