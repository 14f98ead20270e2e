// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

#include "base/core/error.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/plain_file.hpp"

namespace karst {

namespace {

/// Runs work on rank 0; what it throws is thrown on every rank.
void on_root(const Comm& comm, const std::function<void()>& work) {
  std::string problem;
  if (comm.rank() == 0) {
    try {
      work();
    } catch (const Error& e) {
      problem = e.what();
    }
  }
  comm.broadcast(problem);
  if (!problem.empty()) throw Error(problem);
}

/// Temporary files of this process, for the signal handler: fixed memory, no locks.
struct Temporary {
  std::atomic<bool> taken = false, named = false;
  std::array<char, PATH_MAX> name{};
};
std::array<Temporary, 64> temporaries;

void remember(const std::string& name) {
  if (name.size() >= PATH_MAX) return;
  for (Temporary& t : temporaries) {
    if (t.taken.exchange(true)) continue;
    std::memcpy(t.name.data(), name.c_str(), name.size() + 1);
    t.named = true;
    return;
  }
}

void forget(const std::string& name) {
  for (Temporary& t : temporaries) {
    if (!t.named || name != t.name.data()) continue;
    t.named = false;
    t.taken = false;
  }
}

/// Makes a new empty file beside path, with the permissions of an ordinary new file. Its name is remembered before it
/// exists, so no signal comes between.
std::string make_temporary(const std::string& path) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    std::string name = fmt::format("{}.{:06x}.tmp", path, random() & 0xffffff);
    remember(name);
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int failure = errno;
    if (file >= 0) {
      close(file);
      return name;
    }
    forget(name);
    require(failure == EEXIST, "{}: cannot write here: {}", path, std::strerror(failure));
  }
  throw Error(fmt::format("{}: cannot write here: no free name for a temporary file was found", path));
}

void sync_to_disk(const std::string& path, const std::string& temporary) {
  const int file = open(temporary.c_str(), O_RDONLY);
  require(file >= 0, "{}: cannot finish: its temporary file {} is gone: {}", path, temporary, std::strerror(errno));
  const int failure = fsync(file) == 0 ? 0 : errno;
  close(file);
  // EINVAL: the file system knows no fsync
  require(failure == 0 || failure == EINVAL, "{}: cannot write: {}", path, std::strerror(failure));
}

}  // namespace

extern "C" void remove_temporary_files_and_die(int signal_number) {
  for (auto t = temporaries.rbegin(); t != temporaries.rend(); ++t)
    if (t->named && unlink(t->name.data()) != 0) rmdir(t->name.data());
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void RemovedOnSignals::add(const std::string& name) {
  if (std::ranges::count(names_, name) > 0) return;
  names_.push_back(name);
  remember(name);
}

RemovedOnSignals::~RemovedOnSignals() {
  for (const std::string& name : names_) forget(name);
}

AtomicFile::AtomicFile(const Comm& comm, std::string path) : comm_(comm), path_(std::move(path)) {
  on_root(comm_, [&] {
    const std::string special = special_file(path_);
    require(special.empty(), "{}: is {}; only a regular file is replaced: choose another name", path_, special);
    temporary_ = make_temporary(path_);
  });
  comm_.broadcast(temporary_);
  // Any rank may be the last to open the file, and would create it again where rank 0 has been ended and has removed
  // it.
  if (comm_.rank() != 0) remember(temporary_);
}

AtomicFile::~AtomicFile() {
  if (!committed_) unlink(temporary_.c_str());
  forget(temporary_);
}

void AtomicFile::commit() {
  on_root(comm_, [&] {
    sync_to_disk(path_, temporary_);
    const bool renamed = std::rename(temporary_.c_str(), path_.c_str()) == 0;
    require(renamed, "{}: cannot rename {} to it: {}", path_, temporary_, std::strerror(errno));
  });
  committed_ = true;
}

void remove_temporary_files_on_signals() {
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    if (std::signal(s, remove_temporary_files_and_die) == SIG_IGN) std::signal(s, SIG_IGN);  // nohup
}

void write_file(const Comm& comm, const std::string& path, std::string_view text) {
  AtomicFile target(comm, path);
  on_root(comm, [&] {
    GrowingFile file;
    file.open(target.temporary(), false, path);
    file.append(text);
    file.finish();
  });
  target.commit();
}

}  // namespace karst
