// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "app/cli/commands.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "io/publication.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A run on another machine is at work where its last word is this young, as not all file systems pass locks on [s].
constexpr double recent = 20.0;

std::string date(double unix_seconds) {
  constexpr double latest = 2.5e11;  // the year 9999 is before
  if (!(unix_seconds >= 0.0 && unix_seconds < latest)) return "unknown";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(unix_seconds)));
}

/// What is known of the run in a directory: "status" is running, killed, or that of its summary.
Json status_of(const std::string& directory) {
  Json json{{"directory", directory}};
  const std::optional<LockNote> lock = read_lock(directory);
  const Json said = lock ? Json::parse_or_null(lock->said) : Json();
  const bool told = said.is_object() && said.contains("told_s");
  const double age = told ? std::max(unix_time() - said.at("told_s").get<double>(), 0.0) : 0.0;
  if (lock && (lock->held || (!lock->here && told && age < recent))) {
    json["status"] = "running";
    json["holder"] = lock->holder;
    if (told) json.update(said);
    json["files"] = staging(directory);
    return json;
  }
  std::error_code ignored;
  const bool solved = fs::exists(solves(directory), ignored);
  for (const std::string& place : {staging(directory), directory}) {
    const Json summary = Json::of_file(place + "/summary.json");
    if (!summary.is_object() || lock) continue;  // a run that ends in order, or fails, takes its lock away
    json["status"] = summary.value("status", "completed");
    for (const char* key : {"reason", "deck", "karst"})
      if (summary.contains(key)) json[key] = summary.at(key);
    if (summary.contains("seconds")) json["seconds"] = summary.at("seconds").at("total");
    json["files"] = place;
    json["resumable"] = solved;
    return json;
  }
  require(lock || fs::exists(staging(directory), ignored),
          "{}: no run is active there, and there are no results; expected: the directory of a `karst run`", directory);
  json["status"] = "killed";
  if (lock) json["holder"] = lock->holder;
  if (told) json.update(said);
  json["files"] = staging(directory);
  json["resumable"] = solved;
  return json;
}

/// "31 %, 2 min left; transport, step 310 of 1000: t = 3.1 s"
std::string progress_text(const Json& json, bool runs) {
  if (!json.contains("part")) return "";
  std::string text = fmt::format("{:.0f} %", 100.0 * json.at("part").get<double>());
  if (runs && json.at("left_s").is_number())
    text += fmt::format(", about {} remaining", format_seconds(json.at("left_s").get<double>()));
  const std::string note = json.value("note", "");
  return fmt::format("  {}: {}{}\n", text, json.value("what", ""), note.empty() ? "" : "; " + note);
}

std::string text_of(const Json& json) {
  const std::string status = json.at("status").get<std::string>();
  const bool runs = status == "running";
  std::string text = fmt::format("{}: {}", json.at("directory").get<std::string>(), status);
  if (json.contains("seconds")) text += fmt::format(" after {}", format_seconds(json.at("seconds").get<double>()));
  if (json.contains("reason")) text += fmt::format(" ({})", json.at("reason").get<std::string>());
  if (runs) text += fmt::format(", {}", json.at("holder").get<std::string>());
  text += '\n' + progress_text(json, runs);
  if (json.contains("begun_s")) {
    const double told = json.at("told_s").get<double>();
    text += fmt::format("  started {}, last update {} ago\n", date(json.at("begun_s").get<double>()),
                        format_seconds(std::max(unix_time() - told, 0.0)));
  }
  text += fmt::format("  {} in {}\n", runs ? "files until now" : "files", json.at("files").get<std::string>());
  if (json.contains("resumable") && json.at("resumable").get<bool>())
    text += "  the same command with --resume continues it\n";
  return text;
}

}  // namespace

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string status_line(const ProgressState& state, double begun) {
  return Json{{"begun_s", begun},     {"told_s", unix_time()}, {"part", state.part},
              {"left_s", state.left}, {"what", state.what},    {"note", state.note}}
      .dump();
}

void status_command(const Comm& comm, const CommandLine& line) {
  const Json json = status_of(line.directory);
  const std::string text = line.as_json ? json.dump() + '\n' : text_of(json);
  if (comm.rank() == 0) std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace karst
