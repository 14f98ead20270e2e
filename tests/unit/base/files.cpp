// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "support/errors.hpp"

namespace karst {
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

}  // namespace
}  // namespace karst
