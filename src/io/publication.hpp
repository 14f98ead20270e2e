// SPDX-License-Identifier: BSD-3-Clause
// Publication of the files of a run in a directory such that neither old nor new ones can be lost. They are collected
// in the folder staging(directory) inside of it. Then
//
//   1. a note of the files to be removed afterwards is written into that folder: from here on the new results are valid
//   2. each file is renamed over the old one of its name, summary.json last
//   3. files of the replaced run that the new one does not have are removed, then the saved solves (solves(directory))
//   that
//      with which a resumed run would have continued, then the note, then the folder
//
// A program that is killed before 1 leaves the old results unchanged; after one that is killed later,
// complete_publication() carries out the remaining steps. Functions for one rank; not collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace karst {

/// Folder in which the results of a run are collected.
std::string staging(const std::string& directory);
/// Folder inside of it in which a run saves completed solves; it is not moved.
std::string solves(const std::string& directory);
/// What is done with the saved solves.
enum class Solves : std::uint8_t { remove, keep };

/// Moves all files of staging(directory) to the directory and removes those in `leftovers` (names) that are not among
/// them. Throws Error if a file cannot be moved; the remaining new results then stay in staging(directory).
void publish(const std::string& directory, const std::vector<std::string>& leftovers, Solves solves = Solves::remove);

/// Throws Error where the folders that Karst makes in a directory are something else there, such as links to others.
void check_own_names(const std::string& directory);

/// Continues an interrupted publish(); false if there was none. Only files with names of results are moved and removed,
/// whatever the note contains. Throws Error as publish(), and if such a name is that of a link.
bool complete_publication(const std::string& directory);

/// Whether a publish() was started but not completed.
bool is_half_published(const std::string& directory);

/// Locks a directory against other runs during its lifetime, by flock(2) on the file karst.lock in it, which contains
/// host and process. The system releases the lock when the process ends, in whatever way.
class DirectoryLock {
 public:
  /// Throws Error with host and process of the run that holds the lock. On file systems without locks there is none.
  explicit DirectoryLock(const std::string& directory);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();
  /// Replaces the line of the file after host and process: the progress of the run. Write errors are ignored.
  void say(const std::string& line) const;

 private:
  std::string path_, holder_;
  int file_ = -1;
};

/// State of the lock of a directory, for readers.
struct LockNote {
  bool held = false;   ///< a run works there; seen on its machine, and on others where the file system passes locks on
  bool here = false;   ///< its machine is this one
  std::string holder;  ///< "process 12 on HOST"
  std::string said;    ///< DirectoryLock::say()
};
/// Empty if no run is active and none was killed.
std::optional<LockNote> read_lock(const std::string& directory);

}  // namespace karst
