// SPDX-License-Identifier: BSD-3-Clause
// How the files of a run come to their place in a directory such that neither old nor new ones can be lost. They are
// gathered in the folder staging(directory) inside of it. Then
//
//   1. a note of the files to be removed afterwards is written into that folder: from here on the new results hold
//   2. each file is renamed over the old one of its name, summary.json last
//   3. what the replaced run made and the new one does not is removed, then the finished solves (solves(directory))
//   that
//      a resumed run would have gone on from, then the note, then the folder
//
// A program that is killed before 1 leaves the old results as they are; one that is killed later leaves the rest of the
// way to complete_publication(). Functions for one rank; not collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace karst {

/// Where the results of a run are gathered.
std::string staging(const std::string& directory);
/// Where, inside of it, a run keeps its finished solves: not moved.
std::string solves(const std::string& directory);
/// What becomes of the finished solves.
enum class Solves : std::uint8_t { remove, keep };

/// Moves all files of staging(directory) to the directory and removes those in `leftovers` (names) that are not among
/// them. Throws Error when a file cannot be moved; what is left of the new results stays in staging(directory) then.
void publish(const std::string& directory, const std::vector<std::string>& leftovers, Solves solves = Solves::remove);

/// Throws Error where the folders that Karst makes in a directory are something else there, such as links to others.
void check_own_names(const std::string& directory);

/// Goes on with a publish() that was interrupted; false when there was none. Only files with the names of results are
/// moved and removed, whatever the note says. Throws Error as publish(), and where such a name is that of a link.
bool complete_publication(const std::string& directory);

/// A publish() was begun and not ended.
bool is_half_published(const std::string& directory);

/// Keeps other runs out of a directory while it lives, by flock(2) on the file karst.lock in it, which names host and
/// process. The system lets go of the lock of a process that is no more, whatever became of its file.
class DirectoryLock {
 public:
  /// Throws Error with host and process of the run that holds the lock. On file systems without locks there is none.
  explicit DirectoryLock(const std::string& directory);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();
  /// Replaces what the file says beside host and process: a line on how far the run has come. What cannot be written is
  /// not told.
  void say(const std::string& line) const;

 private:
  std::string path_, holder_;
  int file_ = -1;
};

/// What the lock of a directory tells those who only look.
struct LockNote {
  bool held = false;   ///< a run works there; seen on its machine, and on others where the file system passes locks on
  bool here = false;   ///< its machine is this one
  std::string holder;  ///< "process 12 on HOST"
  std::string said;    ///< DirectoryLock::say()
};
/// Nothing where no run works and none was killed.
std::optional<LockNote> read_lock(const std::string& directory);

}  // namespace karst
