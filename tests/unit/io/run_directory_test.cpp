// SPDX-License-Identifier: BSD-3-Clause
#include "io/run_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "support/errors.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

/// Text of the Error, "" when there is none; the same on all ranks.
std::string error_of(const Comm& comm, const std::string& path, bool overwrite) {
  return test::error_of([&] { prepare_run_directory(comm, path, overwrite); });
}

void write(const Comm& comm, const std::string& path) {
  if (comm.rank() == 0) std::ofstream(path) << "kept";
  comm.any(false);
}

TEST(RunDirectoryMpi, IsMadeWithItsParents) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string path = directory.path() + "/a/b";
  EXPECT_EQ(error_of(comm, path, false), "");
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_EQ(error_of(comm, path, false), "") << "an empty one may be used";
}

TEST(RunDirectoryMpi, ResultsOfAnotherRunAreAnError) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  write(comm, directory.path() + "/notes.txt");
  EXPECT_EQ(error_of(comm, directory.path(), false), "") << "files that Karst never writes do no harm";
  write(comm, directory.path() + "/summary.json");
  write(comm, directory.path() + "/plot_000.vtkhdf");
  const std::string text = error_of(comm, directory.path(), false);
  EXPECT_NE(text.find(directory.path()), std::string::npos) << text;
  EXPECT_NE(text.find("plot_000.vtkhdf and 1 more files"), std::string::npos) << text;
  EXPECT_NE(text.find("--overwrite"), std::string::npos) << text;
  EXPECT_TRUE(fs::exists(directory.path() + "/summary.json"));
}

TEST(RunDirectoryMpi, OverwriteRemovesOwnFilesOnly) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::vector<std::string> own{"history.csv", "inertia.csv", "plot_000.vtkhdf", "summary.json"};
  const std::vector<std::string> others{"notes.txt", "plotting.py", "my_summary.json", "rock.h5", "summary.json.bak"};
  for (const auto& name : own) write(comm, directory.path() + "/" + name);
  for (const auto& name : others) write(comm, directory.path() + "/" + name);
  const auto removed = prepare_run_directory(comm, directory.path(), true);
  if (comm.rank() == 0) {
    EXPECT_EQ(removed, own);
  }
  for (const auto& name : own) EXPECT_FALSE(fs::exists(directory.path() + "/" + name)) << name;
  for (const auto& name : others) EXPECT_TRUE(fs::exists(directory.path() + "/" + name)) << name;
  comm.any(false);
}

TEST(RunDirectoryMpi, AFileInTheWay) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  write(comm, directory.path() + "/out");
  EXPECT_NE(error_of(comm, directory.path() + "/out", true).find("a file of this name exists"), std::string::npos);
  EXPECT_NE(error_of(comm, directory.path() + "/out/deeper", true).find("cannot be made: Not a directory"),
            std::string::npos);
  EXPECT_NE(error_of(comm, "", true).find("no output directory is named"), std::string::npos);
}

}  // namespace
}  // namespace karst
