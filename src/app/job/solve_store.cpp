// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/solve_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/deck/clock.hpp"
#include "app/deck/run_identity.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/mix.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/version.hpp"
#include "base/file/log.hpp"
#include "grid/vof_loops.hpp"
#include "io/file_checksum.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

/// Sum over the own VoFs of a level: the order does not matter.
std::uint64_t sum_of_vofs(const LevelGeometry& level) {
  std::uint64_t sum = 0;
  for (int b = 0; b < level.graph.n_local(); ++b) {
    const BoxGraph graph = level.graph.box(b);
    const BoxMoments moments = level.box(b);
    for_each_vof(graph, [&](int, int cell) { sum += mix(1, graph.cells.cell(cell)); });
    for (std::size_t r = 0; r < moments.moments.size(); ++r) {
      std::uint64_t hash = mix(2, graph.cells.cell(graph.row_cell[r]));
      hash = mix(hash, moments.moments[r].kappa);
      for (const double a : moments.moments[r].aperture) hash = mix(hash, a);
      if (!moments.centers.empty())
        for (const float d : moments.centers[r].wall_distance) hash = mix(hash, d);
      for_each_mineral(level, level.moments_begin[b] + r, [&](MineralNumber mineral, double area) {
        hash = mix(mix(hash, area), std::uint64_t{mineral});
      });
      sum += hash;
    }
  }
  return sum;
}

}  // namespace

std::string first_difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> was = split(before, '\n'), is = split(now, '\n');
  for (std::size_t i = 0; i < std::max(was.size(), is.size()); ++i) {
    const std::string x = i < was.size() ? was[i] : "", y = i < is.size() ? is[i] : "";
    if (x != y) return fmt::format("was \"{}\", is \"{}\" now", x, y);
  }
  return "";
}

std::uint64_t fingerprint(const Comm& comm, const Geometry& geometry) {
  std::uint64_t all = 0;
  for (const LevelGeometry& level : geometry.levels) {
    const Layout& layout = level.graph.layout();
    std::uint64_t hash = sum_of_hashes(comm, sum_of_vofs(level));
    hash = mix(hash, layout.domain().cells);
    for (const bool periodic : layout.domain().periodic) hash = mix(hash, std::uint64_t{periodic ? 1U : 0U});
    all = mix(mix(all, hash), static_cast<std::uint64_t>(layout.box_size()));
  }
  return all;
}

std::string SolveStore::dependencies(const std::string& job, const Geometry& geometry, double cell_width) const {
  if (!keeps()) return "";
  std::vector<std::string> minerals;
  for (const MineralWall& mineral : geometry.report.minerals) minerals.push_back(mineral.name);
  return fmt::format("karst {}\nminerals {}\ngeometry {:016x}\ncell width {} m\n{}", version_and_git_id(),
                     join(minerals, ", "), fingerprint(comm_, geometry), cell_width, identity_of(deck_, job));
}

/// @param age  0: the last one of this name, 1: the one before it ...
std::string SolveStore::file_of(const std::string& name, int age) const {
  std::string file = name;
  std::erase(file, ',');
  std::ranges::replace_if(
      file, [](char c) { return c == ' ' || c == '/'; }, '_');
  return fmt::format("{}/{}{}.h5", folder_, file, age > 0 ? fmt::format(".{}", age) : "");
}

/// Makes each state of a name one older, when there is a last one: a run that is killed or finds a full disk before the
/// next is written leaves those as they are. On one rank.
void SolveStore::make_room(const std::string& name) const {
  if (keep_ < 2 || !name.ends_with(checkpoint_suffix) || !fs::exists(file_of(name))) return;
  for (int age = keep_ - 1; age > 0; --age)
    if (fs::exists(file_of(name, age - 1))) fs::rename(file_of(name, age - 1), file_of(name, age));
}

void SolveStore::note(const std::string& name, const Json& result) {
  std::erase_if(finished_, [&](const FinishedSolve& s) { return s.name == name; });
  finished_.push_back({name, result});
}

bool SolveStore::save(const std::string& name, const std::string& dependencies, const SolveRecord& record,
                      std::span<const VofTable> fields, std::span<const RankedList> lists) {
  if (!keeps()) return false;
  const Timer timer("solves to disk");
  Json json;
  json["solve"] = name;
  json["depends_on"] = dependencies;
  json["result"] = record.result;
  json["state"] = record.state;
  bool kept = true;
  try {
    fail_together(comm_, [&] {
      std::error_code problem;
      // Only itself: a folder that was removed while the run works in it does not come back in parts.
      if (comm_.rank() == 0) fs::create_directory(folder_, problem);
      require(!problem, "{}: cannot be made: {}", folder_, problem.message());
      if (comm_.rank() == 0) make_room(name);
    });
    write_vof_file(comm_, file_of(name), json.dump(), fields, lists);
  } catch (const Error& e) {
    log_info("{}: not saved for --resume: {}", name, e.what());
    kept = false;
  }
  note(name, record.result);
  return kept;
}

std::optional<Json> SolveStore::load(const std::string& name, const std::string& dependencies,
                                     const std::function<void(const VofFile&, const Json&)>& read_fields) {
  return load(
      name, [&](const VofFile&, const Json&) { return dependencies; }, read_fields);
}

std::optional<Json> SolveStore::load(const std::string& name, const StateDependencies& dependencies,
                                     const std::function<void(const VofFile&, const Json&)>& read_fields) {
  if (!resume_) return {};
  for (int age = 0; age < (name.ends_with(checkpoint_suffix) ? most_kept : 1); ++age) {
    const std::string path = file_of(name, age);
    std::error_code ignored;
    if (!comm_.any(comm_.rank() == 0 && fs::exists(path, ignored))) continue;
    Json json;
    bool fits = true;
    try {
      check_vof_file(comm_, path);
      std::optional<VofFile> file;
      fail_together(comm_, [&] {
        file.emplace(path);
        json = Json::parse_or_null(file->text());
        require(json.is_object() && json.value("solve", "") == name, "{}: is not the solve {}", path, name);
      });
      const std::string is = dependencies(*file, json.at("state"));
      fail_together(comm_, [&] {
        const std::string was = json.at("depends_on");
        fits = was == is;
        require(fits, "it belongs to other input: {}", first_difference(was, is));
        if (read_fields) read_fields(*file, json.at("state"));
      });
    } catch (const Error& e) {
      log_info("{}{}: the result of the earlier run is not used, {}", name,
               age > 0 ? fmt::format(" ({} before it)", age) : "", e.what());
      if (!fits) return {};  // nor do those before it
      continue;
    }
    if (age > 0) {
      log_info("{}: the state before it is used", name);
      if (comm_.rank() == 0) fs::rename(path, file_of(name), ignored);  // a damaged one never stands before a good one
    }
    note(name, json.at("result"));
    ++n_read_;
    return json.at("state");
  }
  return {};
}

std::string SolveStore::copy_of(const std::string& path) const {
  return folder_ + "/" + fs::path(path).filename().string();
}

std::uint32_t SolveStore::keep_file(const std::string& path) const try {
  fs::create_directory(folder_);
  const std::string copy = copy_of(path), temporary = copy + ".tmp";
  fs::copy_file(path, temporary, fs::copy_options::overwrite_existing);
  fs::rename(temporary, copy);
  return checksum_of(path);
} catch (const fs::filesystem_error& e) {
  throw Error(e.what());
}

void SolveStore::bring_file(const std::string& path, std::uint32_t checksum) const {
  const std::string copy = copy_of(path);
  const std::uint32_t is = checksum_of(copy);
  require(is == checksum, "{}: is damaged: its checksum is {:08x}, {:08x} was written", copy, is, checksum);
  std::error_code problem;
  fs::copy_file(copy, path, fs::copy_options::overwrite_existing, problem);
  require(!problem, "{}: cannot be written: {}", path, problem.message());
}

void SolveStore::drop(const std::string& name) {
  std::erase_if(finished_, [&](const FinishedSolve& s) { return s.name == name; });
  if (!keeps() || comm_.rank() != 0) return;
  std::error_code ignored;
  for (int age = 0; age < most_kept; ++age) fs::remove(file_of(name, age), ignored);
}

}  // namespace karst
