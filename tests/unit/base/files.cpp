// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/plain_file.hpp"
#include "support/errors.hpp"

namespace karst::files_test {
namespace {

namespace fs = std::filesystem;

/// An empty folder, the same on all ranks. Collective.
class Folder {
 public:
  explicit Folder(const Comm& comm) : comm_(comm) {
    std::string name = fs::path(testing::TempDir()) / ("karst_files_" + std::to_string(getpid()));
    comm_.broadcast(name);
    path_ = name;
    if (comm_.rank() == 0) fs::create_directories(path_);
    comm_.sum(1.0);
  }
  ~Folder() {
    comm_.sum(1.0);
    if (comm_.rank() == 0) fs::remove_all(path_);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t n_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  Comm comm_;
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(AtomicFileMpi, AppearsWholeWithCommit) {
  const Comm comm = Comm::world();
  const Folder folder(comm);
  const std::string path = folder.file("a.json");
  if (comm.rank() == 0) std::ofstream(path) << "old";
  AtomicFile file(comm, path);
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(fs::path(file.temporary()).parent_path(), fs::path(path).parent_path());
  std::string name = file.temporary();
  comm.broadcast(name);
  EXPECT_EQ(file.temporary(), name);
  if (comm.rank() == 0) std::ofstream(file.temporary()) << "new";
  comm.sum(1.0);
  EXPECT_EQ(content(path), "old");
  comm.sum(1.0);
  file.commit();
  EXPECT_EQ(content(path), "new");
  EXPECT_EQ(folder.n_files(), 1U);
}

TEST(AtomicFileMpi, LeavesNothingWithoutCommit) {
  const Comm comm = Comm::world();
  const Folder folder(comm);
  {
    const AtomicFile one(comm, folder.file("a")), two(comm, folder.file("a"));  // each has a name of its own
    EXPECT_NE(one.temporary(), two.temporary());
    EXPECT_EQ(folder.n_files(), 2U);
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_EQ(folder.n_files(), 0U);
}

TEST(AtomicFileMpi, EveryRankHearsWhyAFileCannotBeMade) {
  const Comm comm = Comm::world();
  const Folder folder(comm);
  const std::string path = folder.file("missing/a.json");
  EXPECT_EQ(test::error_of([&] { const AtomicFile file(comm, path); }),
            path + ": cannot write here: No such file or directory");
  if (comm.rank() == 0) fs::create_directories(folder.file("folder/inside"));
  comm.sum(1.0);
  EXPECT_THROW(write_file(comm, folder.file("folder"), "text"), Error);  // a folder is in the way
  EXPECT_EQ(folder.n_files(), 1U);
}

TEST(AtomicFileMpi, ALostTemporaryFileIsNamed) {
  const Comm comm = Comm::world();
  const Folder folder(comm);
  AtomicFile file(comm, folder.file("a"));
  if (comm.rank() == 0) fs::remove(file.temporary());
  EXPECT_THROW(file.commit(), Error);
}

TEST(AtomicFileMpi, WritesTextWithOrdinaryPermissions) {
  const Comm comm = Comm::world();
  const Folder folder(comm);
  const std::string path = folder.file("a.txt");
  write_file(comm, path, "line\n");
  EXPECT_EQ(content(path), "line\n");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(info.st_mode & 0777U, 0666U & ~mask);
}

// /dev/full answers every write with "no space left": a link from the temporary name shows what a full disk does.
TEST(AtomicFile, AFullDiskIsNamedAndLeavesNothing) {
  const Comm comm = Comm::self();
  const Folder folder(comm);
  {
    AtomicFile file(comm, folder.file("a"));
    fs::remove(file.temporary());
    fs::create_symlink("/dev/full", file.temporary());
    std::ofstream full(file.temporary());
    full << "text" << std::flush;
    EXPECT_FALSE(full.good());
  }
  EXPECT_EQ(folder.n_files(), 0U);
}

/// Files of this process may have no more bytes, as on a full disk, while it lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// Lines that the disk had no room for are there when it has, each once and in its place.
TEST(GrowingFile, WhatAFullDiskRefusesIsWrittenLater) {
  const Folder folder(Comm::self());
  const std::string path = folder.file("history.csv");
  std::string all = "time,value\n";
  {
    GrowingFile file;
    file.open(path);
    file.append(all);
    for (int n = 0; n < 100; ++n) {
      const std::string line = std::to_string(n) + ",1\n";
      all += line;
      if (n < 20 || n > 60) {
        file.append(line);
        continue;
      }
      const FullDisk full(40);  // amid a line
      file.append(line);
    }
    file.finish();
  }
  EXPECT_EQ(content(path), all);
  GrowingFile more;
  more.open(path, true);
  more.append("end\n");
  more.finish();
  EXPECT_EQ(content(path), all + "end\n");
}

TEST(GrowingFile, WhatIsNotWrittenToTheEndIsAnError) {
  const Folder folder(Comm::self());
  const std::string path = folder.file("history.csv");
  GrowingFile file;
  file.open(path);
  const FullDisk full(10);
  file.append("0123456789abc");
  EXPECT_EQ(test::error_of([&] { file.finish(); }),
            path + ": cannot be written: File too large; its last 3 bytes are missing");
  EXPECT_EQ(test::error_of([&] { write_file(Comm::self(), path, "0123456789abc"); }),
            path + ": cannot be written: File too large; its last 3 bytes are missing");
  GrowingFile none;  // of other ranks
  none.append("text");
  none.finish();
}

// A link would lead to a file of others, a pipe would wait for its reader, and a device would be gone.
TEST(PlainFile, NothingElseIsReadOrReplaced) {
  const Folder folder(Comm::self());
  const std::string victim = folder.file("victim"), link = folder.file("link"), pipe = folder.file("pipe"),
                    inner = folder.file("inner");
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, link);
  fs::create_directory(inner);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [path, is] :
       {std::pair(link, "a symbolic link"), std::pair(pipe, "a pipe"), std::pair(inner, "a folder")}) {
    EXPECT_EQ(special_file(path), is);
    EXPECT_FALSE(plain_text(path).has_value()) << path;
    EXPECT_EQ(test::error_of([&] { write_file(Comm::self(), path, "text"); }),
              path + ": is " + is + "; only a regular file is replaced: choose another name");
    GrowingFile file;
    EXPECT_EQ(test::error_of([&] { file.open(path); }), path + ": is " + is + "; only a regular file is written");
  }
  EXPECT_EQ(special_file(victim), "");
  EXPECT_EQ(special_file(folder.file("nothing")), "");
  EXPECT_EQ(plain_text(victim), "precious");
  EXPECT_EQ(fs::read_symlink(link), victim);
}

}  // namespace
}  // namespace karst::files_test
