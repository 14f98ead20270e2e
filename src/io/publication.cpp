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
#include <fstream>

#include "base/error.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

constexpr const char* note_name = "publishing";  ///< in the staging folder: files to be removed, a line each
constexpr const char* last_file = "summary.json";
constexpr const char* solves_name = "solved";   ///< in the staging folder
constexpr const char* solves_line = "solved/";  ///< in the note: they go, too
constexpr const char* lock_name = "karst.lock";

/// Brings a file, or the names in a folder, to the disk. File systems that know no fsync of folders refuse it.
void sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

void write_note(const fs::path& folder, const std::vector<std::string>& leftovers) {
  const fs::path note = folder / note_name, draft = folder / "publishing.tmp";
  std::ofstream out(draft, std::ios::binary);
  for (const std::string& name : leftovers) out << name << '\n';
  out.close();
  require(out.good(), "{}: cannot write: {}", note.string(), std::strerror(errno));
  sync(draft);
  fs::rename(draft, note);
  sync(folder);
}

std::vector<std::string> read_note(const fs::path& folder) {
  std::vector<std::string> names;
  std::ifstream in(folder / note_name);
  for (std::string name; std::getline(in, name);) names.push_back(name);
  return names;
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

void move_files(const fs::path& folder, const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::erase(names, note_name);
  std::erase(names, solves_name);
  std::ranges::sort(names);
  const auto last = std::ranges::find(names, last_file);
  if (last != names.end()) std::rotate(last, last + 1, names.end());
  for (const std::string& name : names) {
    std::error_code problem;
    fs::rename(folder / name, directory / name, problem);
    require(!problem,
            "output directory {}: {} cannot be moved to its place: {}. Nothing is lost: the new results are complete "
            "in {}, "
            "save for what was moved. Mend the cause; then `karst report {}` moves the rest",
            directory.string(), name, problem.message(), folder.string(), directory.string());
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
  std::error_code ignored;
  return fs::exists(fs::path(staging(directory)) / note_name, ignored);
}

bool complete_publication(const std::string& directory) {
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
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    require(file_ >= 0, "output directory {}: cannot write there: {}", directory, std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) break;
      std::string holder;
      std::getline(std::ifstream(path_), holder);
      ::close(file_);
      file_ = -1;
      throw Error(
          fmt::format("output directory {}: another run works in it{}; wait for its end, or name another directory",
                      directory, holder.empty() ? "" : " (" + holder + ")"));
    }
    // The run before may have removed the file between the two calls: then this is the lock of a file without a name.
    struct stat ours {
    }, there{};
    if (::fstat(file_, &ours) == 0 && ::stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev)
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
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  LockNote note;
  note.held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  std::ifstream in(path);
  std::getline(in, note.holder);
  note.here = note.holder.ends_with(" on " + host_name());
  std::getline(in, note.said);
  return note;
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace karst
