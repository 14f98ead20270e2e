// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "app/deck/config.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/deck/deck_echo.hpp"
#include "geometry_import/read/image_file.hpp"
#include "io/file_checksum.hpp"
#include "io/part_names.hpp"

namespace karst {

namespace fs = std::filesystem;

namespace {

constexpr std::array jobs_with_answers{"flow", "flow in time", "diffusion", "dispersion", "transport", "walls"};

/// Whether answers of a job change with a key or a table, as is said where it is declared.
bool changes_answers(std::string_view name, const std::string& job) {
  static const Reader::Answers said = [] {
    Reader in = Reader::declarations_only();
    read_config(in);
    return in.answers();
  }();
  for (std::string of(name);; of.erase(of.rfind('.'))) {
    if (const auto found = said.find(of); found != said.end()) return found->second.contains(job);
    if (of.find('.') == std::string::npos) return true;
  }
}

bool changes_any(std::string_view name) {
  return std::ranges::any_of(jobs_with_answers, [&](const char* job) { return changes_answers(name, job); });
}

/// "key = value  # comment" up to the comment; a # within quotes is none.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < line.size() && (quoted || line[end] != '#'); ++end) {
    if (line[end] == '\\')
      ++end;
    else if (line[end] == '"')
      quoted = !quoted;
  }
  line = line.substr(0, end);
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// "[[geometry.solid]]" -> "geometry.solid"
std::string_view name_of(std::string_view header) {
  header = header.substr(header.find_first_not_of('['));
  return header.substr(0, header.find(']'));
}

/// What stands in the quotes of toml_text().
std::string text_of(const std::string& quoted) {
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\') ++i;
    text += quoted[i];
  }
  return text;
}

/// The plain files that a name of the deck stands for, a line "bytes name" each; empty where it is no plain file. On
/// rank 0.
std::string plain_files(const std::string& name) {
  const std::string file = split_array(name).first;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return "";
  std::vector<std::string> all = parts_beside(file);
  all.insert(all.begin(), file);
  for (std::string& one : all) one = fmt::format("{} {}", fs::file_size(one), one);
  return join(all, "\n");
}

/// Length and checksum of what a file name of the deck stands for; empty where that is no plain file. Collective.
std::string content_of(const Comm& comm, const std::string& name) {
  std::string files;
  fail_together(comm, [&] {
    if (comm.rank() == 0) files = plain_files(name);
  });
  comm.broadcast(files);
  if (files.empty()) return "";
  std::vector<std::string> contents;
  for (const std::string& file : split(files, '\n')) {
    const std::size_t space = file.find(' ');
    contents.push_back(
        fmt::format("{} bytes of CRC-32 {:08x}", file.substr(0, space), checksum_of(comm, file.substr(space + 1))));
  }
  const std::string data = split_array(name).second;
  return join(contents, ", ") + (data.empty() ? "" : " at " + data);
}

}  // namespace

std::string with_contents(const Comm& comm, const std::string& deck) {
  std::set<std::string> files;  // keys that name one
  for (const KeyInfo& key : deck_keys())
    if (key.type == "file name") files.insert(without_positions(key.key));
  std::string all, table;
  for (const std::string& whole : split(deck, '\n')) {
    const std::string line(without_comment(whole));
    if (line.starts_with('[')) table = name_of(line);
    const std::size_t equals = line.find(" = ");
    const bool names_file = files.contains(fmt::format("{}.{}", table, line.substr(0, equals)));
    const std::string content =
        names_file && changes_any(table) ? content_of(comm, text_of(line.substr(equals + 3))) : "";
    all += (content.empty() ? whole : line.substr(0, equals + 3) + toml_text(content)) + '\n';
  }
  return all;
}

std::string identity_of(const std::string& deck, const std::string& job) {
  require(std::ranges::count(jobs_with_answers, job) > 0,
          "the inputs that determine the results of the job {} are not known", job);
  std::string lines, header;
  for (const std::string& whole : split(deck, '\n')) {
    const std::string line(without_comment(whole));
    if (line.empty()) continue;
    if (line[0] == '[') header = line;
    const std::string table(header.empty() ? "" : name_of(header));
    const std::string key = (table.empty() ? "" : table + ".") + line.substr(0, line.find(" = "));
    if (!changes_answers(line[0] == '[' ? table : key, job)) continue;
    lines += line[0] == '[' ? line + '\n' : fmt::format("{} {}\n", header, line);
  }
  return lines;
}

}  // namespace karst
