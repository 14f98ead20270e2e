// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

/// A new folder, the same on all ranks, gone at the end.
class RunFolderMpi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (comm.rank() == 0) {
      place = (fs::temp_directory_path() / fmt::format("karst-run-folder-{}", ::getpid())).string();
      fs::create_directory(place);
    }
    comm.broadcast(place);
  }
  void TearDown() override {
    comm.sum(1.0);  // all have looked
    if (comm.rank() == 0) fs::remove_all(place);
    comm.sum(1.0);
  }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  bool on_rank_0(bool ok) const { return comm.rank() != 0 || ok; }
  void write_results(const std::string& text) {
    RunFolder folder(comm, place + "/a/b", true);
    write_file(comm, folder.file("summary.json"), text);
    write_file(comm, folder.file("log.txt"), "log of " + text);
    folder.publish();
  }

  Comm comm = Comm::world();
  std::string place;
};

TEST_F(RunFolderMpi, ResultsAppearTogether) {
  {
    RunFolder folder(comm, place + "/a/b", false);
    write_file(comm, folder.file("summary.json"), "{}");
    comm.sum(1.0);
    EXPECT_TRUE(on_rank_0(!fs::exists(place + "/a/b/summary.json")));
    comm.sum(1.0);
    EXPECT_TRUE(folder.publish().empty());
  }
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/summary.json"), "{}");
  EXPECT_EQ(std::distance(fs::directory_iterator(place + "/a/b"), fs::directory_iterator()), 1);
}

TEST_F(RunFolderMpi, AFailedRunLeavesNothing) {
  {
    RunFolder folder(comm, place + "/a/b", false);
    write_file(comm, folder.file("summary.json"), "{}");
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_TRUE(fs::is_empty(place));
}

TEST_F(RunFolderMpi, OlderResultsStayWhenARunFails) {
  write_results("old");
  {
    RunFolder folder(comm, place + "/a/b", true);
    write_file(comm, folder.file("summary.json"), "new");
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/summary.json"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(place + "/a/b"), fs::directory_iterator()), 2);
}

TEST_F(RunFolderMpi, OverwritingRemovesWhatTheNewRunDoesNotWrite) {
  write_results("old");
  {
    RunFolder folder(comm, place + "/a/b", true);
    write_file(comm, folder.file("summary.json"), "new");
    EXPECT_EQ(folder.publish(), (std::vector<std::string>{"log.txt", "summary.json"}));
  }
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/summary.json"), "new");
  EXPECT_FALSE(fs::exists(place + "/a/b/log.txt"));
}

TEST_F(RunFolderMpi, ResultsAreNotReplacedUnasked) {
  write_results("old");
  EXPECT_THROW(RunFolder(comm, place + "/a/b", false), Error);
  EXPECT_THROW(RunFolder(comm, place + "/a/b/summary.json", false), Error);  // a file
  EXPECT_THROW(RunFolder(comm, place + "/a/b/summary.json", true), Error);
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/summary.json"), "old");
}

}  // namespace
}  // namespace karst
