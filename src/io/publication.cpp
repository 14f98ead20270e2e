// SPDX-License-Identifier: BSD-3-Clause
#include "io/publication.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/plain_file.hpp"
#include "io/result_names.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

constexpr const char* note_name = "publishing";  ///< in the staging folder: files to be removed, a line each
constexpr const char* last_file = "summary.json";
constexpr const char* solves_name = "solved";   ///< in the staging folder
constexpr const char* solves_line = "solved/";  ///< in the note: they go, too
constexpr const char* lock_name = "karst.lock";

/// Brings a file, or the names in a folder, to the disk. Throws Error. File systems that know no fsync of folders
/// refuse it.
void sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int problem = file < 0 || ::fsync(file) != 0 ? errno : 0;
  if (file >= 0) ::close(file);
  if (file >= 0 && (problem == EINVAL || problem == ENOTSUP)) problem = 0;
  require(problem == 0, "{}: cannot be flushed to disk: {}", path.string(), std::strerror(problem));
}

void write_note(const fs::path& folder, const std::vector<std::string>& leftovers) {
  const fs::path note = folder / note_name, draft = folder / "publishing.tmp";
  GrowingFile out;
  out.open(draft.string(), false, note.string());
  for (const std::string& name : leftovers) out.append(name + '\n');
  out.finish();
  sync(draft);
  fs::rename(draft, note);
  sync(folder);
}

/// The names of results among the lines: nothing else is removed, whoever wrote the note.
std::vector<std::string> read_note(const fs::path& folder) {
  std::vector<std::string> names = split(plain_text((folder / note_name).string()).value_or(""), '\n');
  std::erase_if(names, [](const std::string& name) { return name != solves_line && !is_result_name(name); });
  return names;
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// Throws Error where this is something else than what Karst itself makes under that name.
/// @param wanted  as special_file() names it; empty: a plain file
void check_own(const fs::path& path, const std::string& wanted) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  const std::string is = special_file(path.string());
  require(is == wanted,
          "output directory {}: {} there is {}, which no run writes; move it, or choose another directory",
          path.parent_path().string(), path.filename().string(), is.empty() ? "a regular file" : is);
}

void move_files(const fs::path& folder, const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::erase(names, note_name);
  std::erase(names, solves_name);
  std::erase_if(names, [&](const std::string& name) {  // of a file that could not be written, maybe by the MPI library
    std::error_code ignored;
    return name.find(".tmp") != std::string::npos && fs::remove(folder / name, ignored);
  });
  std::ranges::sort(names);
  const auto last = std::ranges::find(names, last_file);
  if (last != names.end()) std::rotate(last, last + 1, names.end());
  for (const std::string& name : names) {
    require(is_result_name(name), "output directory {}: {} in {} is not a result of a run; move it, then try again",
            directory.string(), name, folder.string());
    check_own(folder / name, "");
  }
  for (const std::string& name : names) {
    std::error_code problem;
    const std::string special = special_file((directory / name).string());
    if (special.empty()) fs::rename(folder / name, directory / name, problem);
    require(special.empty() && !problem,
            "output directory {}: {} cannot be moved to its place: {}. Nothing is lost: the new results are complete "
            "in {}, except those already moved. Remove the cause; then `karst report {}` moves the rest",
            directory.string(), name, special.empty() ? problem.message() : special + " of that name is there",
            folder.string(), directory.string());
  }
  sync(directory);
}

}  // namespace

std::string staging(const std::string& directory) { return directory + "/karst-unfinished"; }

std::string solves(const std::string& directory) { return staging(directory) + "/" + solves_name; }

void publish(const std::string& directory, const std::vector<std::string>& leftovers, Solves solves) {
  const fs::path folder = staging(directory);
  try {
    for (const auto& entry : fs::directory_iterator(folder)) sync(entry.path());
    std::vector<std::string> remove;
    for (const std::string& name : leftovers)
      if (!fs::exists(folder / name)) remove.push_back(name);
    if (solves == Solves::remove) remove.emplace_back(solves_line);
    write_note(folder, remove);
    complete_publication(directory);
  } catch (const fs::filesystem_error& e) {
    throw Error(fmt::format("output directory {}: cannot move the results from {} to their place: {}", directory,
                            folder.string(), e.code().message()));
  }
}

bool is_half_published(const std::string& directory) {
  return plain_text((fs::path(staging(directory)) / note_name).string()).has_value();
}

void check_own_names(const std::string& directory) {
  check_own(staging(directory), "a folder");
  check_own(solves(directory), "a folder");
}

bool complete_publication(const std::string& directory) {
  check_own_names(directory);
  if (!is_half_published(directory)) return false;
  const fs::path folder = staging(directory);
  move_files(folder, directory);
  std::error_code ignored;  // a leftover that cannot be removed does no harm
  for (const std::string& name : read_note(folder)) {
    if (name == solves_line)
      fs::remove_all(solves(directory), ignored);
    else
      fs::remove(fs::path(directory) / name, ignored);
  }
  fs::remove(folder / note_name, ignored);
  fs::remove(folder, ignored);
  return true;
}

DirectoryLock::DirectoryLock(const std::string& directory) : path_(directory + "/" + lock_name) {
  for (;;) {
    check_own(path_, "");
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    require(file_ >= 0, "output directory {}: cannot write there: {}", directory, std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) break;
      std::string holder;
      holder = split(plain_text(path_).value_or(""), '\n').front();
      ::close(file_);
      file_ = -1;
      throw Error(
          fmt::format("output directory {}: another run uses it{}; wait until it ends, or choose another directory",
                      directory, holder.empty() ? "" : " (" + holder + ")"));
    }
    // A second name would be that of a file of others, which the text of the lock must not replace.
    struct stat ours {
    }, there{};
    const bool known = ::fstat(file_, &ours) == 0;
    if (known && ours.st_nlink > 1) ::close(std::exchange(file_, -1));
    require(file_ >= 0, "output directory {}: {} there is a file of another name, too; remove it", directory,
            lock_name);
    // The run before may have removed the file between the two calls: then this is the lock of a file without a name.
    if (known && ::stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
      break;
    ::close(file_);
  }
  holder_ = fmt::format("process {} on {}\n", ::getpid(), host_name());
  say("");
}

void DirectoryLock::say(const std::string& line) const {
  const std::string text = holder_ + line + '\n';
  // In one piece, and longer than what stands there until it is cut: a reader sees whole lines.
  if (::pwrite(file_, text.data(), text.size(), 0) < 0 || ::ftruncate(file_, static_cast<off_t>(text.size())) != 0) {
    // What the file says is for the eyes of others only.
  }
}

std::optional<LockNote> read_lock(const std::string& directory) {
  const std::string path = directory + "/" + lock_name;
  const std::optional<std::string> text = plain_text(path);
  const int file = text ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (file < 0) return {};
  LockNote note;
  note.held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  const std::vector<std::string> lines = split(*text, '\n');
  note.holder = lines[0];
  note.here = note.holder.ends_with(" on " + host_name());
  if (lines.size() > 1) note.said = lines[1];
  return note;
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace karst
