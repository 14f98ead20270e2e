// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/run_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "support/errors.hpp"

namespace karst::run_folder_test {
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
  /// A summary of a run that made these files.
  static std::string summary(const std::string& text, const std::string& files) {
    return "{\"karst\": \"test\", \"title\": \"" + text + "\", \"files\": [" + files + "]}";
  }
  void write_results(const std::string& text) {
    RunFolder folder(comm, place + "/a/b", true, {});
    write_file(comm, folder.file("summary.json"), summary(text, "\"log.txt\", \"summary.json\""));
    write_file(comm, folder.file("log.txt"), "log of " + text);
    folder.publish();
  }

  void finish_a_solve(RunFolder& folder) {
    if (comm.rank() == 0) {
      fs::create_directories(folder.solves());
      std::ofstream(folder.solves() + "/stokes_x.h5") << "velocity";
    }
    folder.begin_work();
  }

  Comm comm = Comm::world();
  std::string place;
};

TEST_F(RunFolderMpi, ResultsAppearTogether) {
  {
    RunFolder folder(comm, place + "/a/b", false, {});
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
    RunFolder folder(comm, place + "/a/b", false, {});
    write_file(comm, folder.file("summary.json"), "{}");
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_TRUE(fs::is_empty(place));
}

TEST_F(RunFolderMpi, OlderResultsStayWhenARunFails) {
  write_results("old");
  {
    RunFolder folder(comm, place + "/a/b", true, {});
    write_file(comm, folder.file("summary.json"), summary("new", "\"summary.json\""));
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/log.txt"), "log of old");
  EXPECT_EQ(std::distance(fs::directory_iterator(place + "/a/b"), fs::directory_iterator()), 2);
}

TEST_F(RunFolderMpi, OverwritingRemovesWhatTheEarlierRunSaysItMadeAndNothingElse) {
  write_results("old");
  if (comm.rank() == 0) std::ofstream(place + "/a/b/notes.txt") << "mine";
  comm.sum(1.0);
  {
    RunFolder folder(comm, place + "/a/b", true, {});
    const std::string text = summary("new", "\"summary.json\"");
    write_file(comm, folder.file("summary.json"), text);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"summary.json"});
    EXPECT_EQ(folder.publish(), (std::vector<std::string>{"log.txt", "summary.json"}));
  }
  comm.sum(1.0);
  EXPECT_NE(text_of(place + "/a/b/summary.json").find("new"), std::string::npos);
  EXPECT_FALSE(fs::exists(place + "/a/b/log.txt"));
  EXPECT_EQ(text_of(place + "/a/b/notes.txt"), "mine");
}

// Outputs, histories, slices and parts of plotfiles of the run before do not stay among those of a shorter one, or of
// one that writes fewer parts.
TEST_F(RunFolderMpi, NothingOfALongerRunStays) {
  const std::vector<std::string> more{"chemistry.csv",
                                      "history.csv",
                                      "output.vtkhdf.series",
                                      "output_0002.vtkhdf",
                                      "output_0002.vtkhdf.part1",
                                      "plot.vtkhdf.part1",
                                      "plot.vtkhdf.part12",
                                      "slice_cut.vti.series",
                                      "slice_cut_0001.vti",
                                      "transport.csv",
                                      "wall.vtp"};
  const std::string always = "\"plot.vtkhdf\", \"summary.json\"";
  std::string listed = always;
  for (const std::string& name : more) listed += ", \"" + name + '"';
  const std::string at = place + "/a/b";
  for (const std::string& files : {listed, always}) {
    RunFolder folder(comm, at, true, {});
    write_file(comm, folder.file("summary.json"), summary("run", files));
    write_file(comm, folder.file("plot.vtkhdf"), "fields");
    if (files == listed)
      for (const std::string& name : more) write_file(comm, folder.file(name), "old");
    folder.publish();
  }
  comm.sum(1.0);
  for (const std::string& name : more) EXPECT_FALSE(fs::exists(at + "/" + name)) << name;
  EXPECT_EQ(text_of(at + "/plot.vtkhdf"), "fields");
  comm.sum(1.0);
  if (comm.rank() == 0) std::ofstream(at + "/plot.vtkhdf.part2") << "mine";
  comm.sum(1.0);
  const std::string error = test::error_of([&] { RunFolder(comm, at, true, {}); });
  EXPECT_NE(error.find("plot.vtkhdf.part2 has the name of a result but is not among"), std::string::npos) << error;
}

TEST_F(RunFolderMpi, ResultsAreNotReplacedUnasked) {
  write_results("old");
  const auto error = [&](const std::string& path, bool overwrite) {
    return test::error_of([&] { RunFolder(comm, path, overwrite, {}); });
  };
  EXPECT_NE(error(place + "/a/b", false).find("log.txt and 1 more files"), std::string::npos);
  EXPECT_NE(error(place + "/a/b", false).find("--overwrite"), std::string::npos);
  for (const bool overwrite : {false, true}) {
    EXPECT_NE(error(place + "/a/b/summary.json", overwrite).find("a file of this name exists"), std::string::npos);
    EXPECT_NE(error(place + "/a/b/summary.json/c", overwrite).find("Not a directory"), std::string::npos);
    EXPECT_NE(error("", overwrite).find("no output directory is given"), std::string::npos);
  }
  comm.sum(1.0);
  EXPECT_NE(text_of(place + "/a/b/summary.json").find("old"), std::string::npos);
}

TEST_F(RunFolderMpi, FilesOfOthersAndInputsAreKept) {
  write_results("old");
  const auto error = [&](bool overwrite, const std::vector<std::string>& inputs) {
    return test::error_of([&] { RunFolder(comm, place + "/a/b", overwrite, inputs); });
  };
  EXPECT_NE(error(true, {place + "/a/../a/b/log.txt"}).find("this run reads"), std::string::npos);
  EXPECT_EQ(error(true, {place + "/log.txt", place + "/a/b/rock.h5"}), "");
  if (comm.rank() == 0) std::ofstream(place + "/a/b/deck.toml") << "mine";  // not in the list of the earlier run
  comm.sum(1.0);
  EXPECT_NE(error(true, {}).find("deck.toml has the name of a result"), std::string::npos);
  if (comm.rank() == 0) {
    fs::remove(place + "/a/b/deck.toml");
    fs::create_directory(place + "/a/b/report.html");
  }
  comm.sum(1.0);
  EXPECT_NE(error(true, {}).find("report.html has the name of a result but is not a regular file"), std::string::npos);
  comm.sum(1.0);
  EXPECT_EQ(text_of(place + "/a/b/log.txt"), "log of old");
}

TEST_F(RunFolderMpi, OneRunAtATime) {
  const RunFolder first(comm, place + "/a/b", false, {});
  const std::string error = test::error_of([&] { RunFolder(comm, place + "/a/b", true, {}); });
  EXPECT_NE(error.find("another run uses it (process "), std::string::npos) << error;
  EXPECT_TRUE(fs::exists(first.file("")));
  comm.sum(1.0);  // all have looked
}

TEST_F(RunFolderMpi, ALockWithoutAHolderIsStale) {
  if (comm.rank() == 0) {
    fs::create_directories(place + "/a/b");
    std::ofstream(place + "/a/b/karst.lock") << "process 1 on elsewhere\n";
  }
  comm.sum(1.0);
  write_results("new");
  comm.sum(1.0);
  EXPECT_FALSE(fs::exists(place + "/a/b/karst.lock"));
}

// A run that was killed between two renames: all of the way that is left is gone by the next one.
TEST_F(RunFolderMpi, AHalfPublishedRunIsCompleted) {
  write_results("old");
  if (comm.rank() == 0) {
    const std::string folder = staging(place + "/a/b");
    fs::create_directory(folder);
    std::ofstream(folder + "/summary.json") << summary("new", "\"report.html\", \"summary.json\"");
    std::ofstream(folder + "/publishing") << "log.txt\n";
    std::ofstream(place + "/a/b/report.html") << "new";  // moved already
  }
  comm.sum(1.0);
  complete_results(comm, place + "/a/b");
  comm.sum(1.0);
  EXPECT_NE(text_of(place + "/a/b/summary.json").find("new"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(place + "/a/b"), fs::directory_iterator()), 2);
}

TEST_F(RunFolderMpi, ResultsThatCannotBeMovedStay) {
  const std::string at = place + "/a/b";
  std::string error;
  {
    RunFolder folder(comm, at, true, {});
    write_file(comm, folder.file("plot_000.vtkhdf"), "fields");
    write_file(comm, folder.file("summary.json"), summary("new", "\"plot_000.vtkhdf\", \"summary.json\""));
    if (comm.rank() == 0) fs::create_directory(at + "/plot_000.vtkhdf");  // by somebody, in the meantime
    comm.sum(1.0);
    error = test::error_of([&] { folder.publish(); });
  }
  comm.sum(1.0);
  EXPECT_NE(error.find("plot_000.vtkhdf cannot be moved to its place"), std::string::npos) << error;
  EXPECT_EQ(text_of(staging(at) + "/plot_000.vtkhdf"), "fields");
  comm.sum(1.0);
  if (comm.rank() == 0) fs::remove(at + "/plot_000.vtkhdf");
  comm.sum(1.0);
  complete_results(comm, at);
  comm.sum(1.0);
  EXPECT_EQ(text_of(at + "/plot_000.vtkhdf"), "fields");
  EXPECT_FALSE(fs::exists(staging(at)));
}

TEST_F(RunFolderMpi, FinishedSolvesStay) {
  const std::string at = place + "/a/b";
  {
    RunFolder folder(comm, at, false, {});
    write_file(comm, folder.file("log.txt"), "log");
    finish_a_solve(folder);
    comm.sum(1.0);
  }
  comm.sum(1.0);
  EXPECT_FALSE(fs::exists(staging(at) + "/log.txt"));
  EXPECT_EQ(text_of(solves(at) + "/stokes_x.h5"), "velocity");
  const std::string error = test::error_of([&] { RunFolder(comm, at, false, {}); });
  EXPECT_PRED2(test::has, error, "left 1 finished solve ");
  EXPECT_PRED2(test::has, error, "--resume");
  comm.sum(1.0);
  {
    RunFolder folder(comm, at, false, {}, true);
    EXPECT_TRUE(folder.has_earlier_solves());
    EXPECT_EQ(folder.names(), std::vector<std::string>{"summary.json"});
    write_file(comm, folder.file("summary.json"), summary("new", "\"summary.json\""));
    folder.publish();
  }
  comm.sum(1.0);
  EXPECT_FALSE(fs::exists(staging(at)));
  EXPECT_EQ(std::distance(fs::directory_iterator(at), fs::directory_iterator()), 1);
}

TEST_F(RunFolderMpi, OverwritingRemovesFinishedSolves) {
  const std::string at = place + "/a/b";
  {
    RunFolder folder(comm, at, false, {});
    finish_a_solve(folder);
    comm.sum(1.0);
  }
  comm.sum(1.0);
  { EXPECT_FALSE(RunFolder(comm, at, true, {}).has_earlier_solves()); }
  comm.sum(1.0);
  EXPECT_FALSE(fs::exists(staging(at)));
}

TEST_F(RunFolderMpi, WhatARunLeavesDoesNotReplaceResults) {
  const std::string at = place + "/a/b",
                    left = "{\"karst\": \"test\", \"status\": \"interrupted\", \"files\": [\"summary.json\"]}";
  const auto end_early = [&] {
    {
      RunFolder folder(comm, at, true, {});
      write_file(comm, folder.file("summary.json"), left);
      write_file(comm, folder.file("plot.vtkhdf"), "half");
      finish_a_solve(folder);
      if (comm.rank() == 0) folder.leave({"summary.json"});
      comm.sum(1.0);
    }
    comm.sum(1.0);
  };
  end_early();
  EXPECT_EQ(text_of(at + "/summary.json"), left);
  EXPECT_FALSE(fs::exists(staging(at) + "/plot.vtkhdf"));
  EXPECT_TRUE(fs::exists(solves(at) + "/stokes_x.h5"));
  comm.sum(1.0);
  write_results("whole");  // replaces what was left
  end_early();
  EXPECT_NE(text_of(at + "/summary.json").find("whole"), std::string::npos);
  EXPECT_EQ(text_of(at + "/log.txt"), "log of whole");
  EXPECT_EQ(text_of(staging(at) + "/summary.json"), left);
  EXPECT_TRUE(fs::exists(solves(at) + "/stokes_x.h5"));
}

// A folder from somebody else: what it says of its files leads nowhere else.
TEST_F(RunFolderMpi, NothingOutsideIsRemovedByANote) {
  const std::string victim = place + "/victim.vtkhdf";
  write_results("old");
  if (comm.rank() == 0) {
    std::ofstream(victim) << "precious";
    fs::create_directory(place + "/a/b/plot");
    std::ofstream(place + "/a/b/notes.txt") << "precious";
    fs::create_directory(staging(place + "/a/b"));
    std::ofstream(staging(place + "/a/b") + "/publishing")
        << victim << "\n../../victim.vtkhdf\nplot/../../../victim.vtkhdf\nnotes.txt\nlog.txt\n";
  }
  comm.sum(1.0);
  complete_results(comm, place + "/a/b");
  EXPECT_TRUE(fs::exists(victim));
  EXPECT_TRUE(fs::exists(place + "/a/b/notes.txt"));
  EXPECT_FALSE(fs::exists(place + "/a/b/log.txt"));
}

TEST_F(RunFolderMpi, NothingOutsideIsRemovedByASummary) {
  const std::string victim = place + "/victim.vtkhdf", at = place + "/a/b";
  if (comm.rank() == 0) {
    std::ofstream(victim) << "precious";
    fs::create_directories(at + "/plot");
    std::ofstream(at + "/summary.json") << summary("old", "\"summary.json\", \"plot/../../../victim.vtkhdf\"");
  }
  comm.sum(1.0);
  write_results("new");
  EXPECT_TRUE(fs::exists(victim));
}

TEST_F(RunFolderMpi, LinksAndPipesUnderItsNamesAreRefused) {
  const std::string at = place + "/a/b", victim = place + "/victim";
  const auto refused = [&](const std::string& name, const std::string& is) {
    const std::string text = test::error_of([&] { RunFolder(comm, at, true, {}, true); });
    EXPECT_NE(text.find(name + " there is " + is), std::string::npos) << text;
    comm.sum(1.0);
    if (comm.rank() == 0) fs::remove(at + "/" + name);
    comm.sum(1.0);
  };
  if (comm.rank() == 0) {
    fs::create_directories(at);
    fs::create_directory(victim);
    std::ofstream(victim + "/file.txt") << "precious";
    fs::create_symlink(victim, staging(at));
  }
  comm.sum(1.0);
  refused("karst-unfinished", "a symbolic link");
  if (comm.rank() == 0) fs::create_symlink(victim + "/file.txt", at + "/karst.lock");
  comm.sum(1.0);
  refused("karst.lock", "a symbolic link");
  if (comm.rank() == 0) fs::create_hard_link(victim + "/file.txt", at + "/karst.lock");
  comm.sum(1.0);
  refused("karst.lock", "a file of another name, too");
  const bool made = comm.rank() != 0 || mkfifo((at + "/karst.lock").c_str(), 0600) == 0;
  ASSERT_TRUE(made);
  comm.sum(1.0);
  EXPECT_FALSE(read_lock(at).has_value());  // and does not wait for a writer
  refused("karst.lock", "a pipe");
  EXPECT_EQ(text_of(victim + "/file.txt"), "precious");
  write_results("new");
}

}  // namespace
}  // namespace karst::run_folder_test
