// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "support/errors.hpp"

namespace karst {
namespace {

class Log : public ::testing::Test {
 protected:
  Log() { forget_warnings(); }
  ~Log() override {
    close_log();
    set_up_log(Comm::world());
    forget_warnings();
  }
};
using LogMpi = Log;

TEST_F(Log, LinesGoPlainToTheTerminalAndWithTimesToTheFile) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "karst_log.txt").string();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  set_up_log(Comm::self(), path);
  log_info("{} boxes {{}}", 8);
  log_warn("pore {} is closed", 3);
  close_log();
  log_info("after the file");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "8 boxes {}\nafter the file\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: pore 3 is closed\n");
  std::ifstream file(path);
  std::string first, second, third;
  std::getline(file, first);
  std::getline(file, second);
  EXPECT_FALSE(std::getline(file, third));
  const std::string time = R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] )";
  EXPECT_TRUE(std::regex_match(first, std::regex(time + R"(\[info\] 8 boxes \{\})"))) << first;
  EXPECT_TRUE(std::regex_match(second, std::regex(time + R"(\[warning\] pore 3 is closed)"))) << second;
  std::filesystem::remove(path);
}

TEST_F(Log, AFileThatCannotBeMadeIsAnError) {
  const std::string text = test::error_of([] { set_up_log(Comm::self(), "/proc/no_such_folder/log.txt"); });
  EXPECT_TRUE(text.starts_with("/proc/no_such_folder/log.txt: cannot write the log file")) << text;
}

TEST_F(LogMpi, OnlyRankZeroSpeaks) {
  const Comm comm = Comm::world();
  testing::internal::CaptureStdout();
  set_up_log(comm);
  log_info("hello");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), comm.rank() == 0 ? "hello\n" : "");
}

TEST_F(LogMpi, WarningsAreCountedOverRanksAndSaidOnce) {
  const Comm comm = Comm::world();
  set_up_log(comm);
  EXPECT_EQ(warning_summary(comm), "");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) log_warn("a throat was closed");
  if (comm.rank() == comm.size() - 1) log_warn("only on the last rank");
  EXPECT_EQ(n_warnings(), comm.rank() == comm.size() - 1 ? 4 : 3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("warning: a throat was closed\n"), comm.rank() == 0 ? 0U : std::string::npos);
  EXPECT_EQ(said.find("closed\nwarning: a throat"), std::string::npos);
  const std::string on = comm.size() > 1 ? " on " + std::to_string(comm.size()) + " ranks" : "";
  EXPECT_EQ(warning_summary(comm), std::to_string(3 * comm.size() + 1) + " warnings:\n  a throat was closed (" +
                                       std::to_string(3 * comm.size()) + " times" + on + ")\n  only on the last rank");
}

TEST_F(Log, ManyDifferentWarningsAreCountedFromAnyThread) {
  testing::internal::CaptureStderr();
  parallel_for_dynamic(500, [](std::int64_t i) { log_warn("cell {}", i); });
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(n_warnings(), 500);
  const std::string summary = warning_summary(Comm::self());
  EXPECT_EQ(summary.find("500 warnings:\n"), 0U);
  EXPECT_NE(summary.find("\n  and 300 others, see the log file"), std::string::npos);
}

TEST(ProgressLine, ShowsPartAndTimeLeft) {
  EXPECT_EQ(progress_line("cut cells", 5, 10, 3.2, 80),
            "cut cells  [###############...............]  50 %  3.20 s left");
  EXPECT_EQ(progress_line("cut cells", 0, 10, 3.2, 80), "cut cells  [..............................]   0 %");
  EXPECT_EQ(progress_line("cut cells", 10, 10, 3.2, 80), "cut cells  [##############################] 100 %  3.20 s");
  EXPECT_EQ(progress_line("cut cells", 999, 1000, 1.0, 32), "cut cells    99 %  1.00 ms left");
  EXPECT_EQ(progress_line("cut cells", 0, 0, 1.0, 9), "cut cells");
  // A long text gives way to what is left.
  EXPECT_EQ(progress_line("solve  iteration 12, residual 1e-3", 9, 10, 9.0, 45),
            "solve  iteration 12, res    90 %  1.00 s left");
  for (int width = 0; width < 100; ++width) {
    EXPECT_LE(progress_line("cut cells", 3, 7, 1e4, width).size(), static_cast<std::size_t>(width));
  }
}

TEST(Progress, WritesSeldomWithoutATerminal) {
  double time = 100.0;
  std::vector<double> when;
  {
    Progress progress(Comm::self(), "boxes", 1000,
                      {false, 80, [&](const std::string&) { when.push_back(time); }, [&] { return time; }});
    for (int i = 0; i < 1000; ++i, time += 1.0) progress.update(i);
  }
  ASSERT_GE(when.size(), 10U);
  EXPECT_EQ(when.front(), 105.0);
  for (std::size_t i = 1; i < when.size(); ++i)
    EXPECT_TRUE(when[i] - when[i - 1] >= 5.0 && when[i] - when[i - 1] <= 61.0);
}

TEST(Progress, OverwritesItsLineOnATerminalAndClearsIt) {
  double time = 0.0;
  std::vector<std::string> lines;
  {
    Progress progress(Comm::self(), "boxes", 10000,
                      {true, 80, [&](const std::string& text) { lines.push_back(text); }, [&] { return time; }});
    for (int i = 0; i < 10000; ++i, time += 1e-4) progress.update(i);
  }
  EXPECT_LE(lines.size(), 11U);  // 10 a second, and the end
  EXPECT_GE(lines.size(), 10U);
  for (const auto& l : lines) EXPECT_EQ(l.find("\r\033[K"), 0U);
  EXPECT_EQ(lines.back(), "\r\033[K");
}

TEST(Progress, ShowsANote) {
  double time = 0.0;
  std::string line;
  Progress progress(Comm::self(), "solve", 10,
                    {false, 80, [&](const std::string& text) { line = text; }, [&] { return time; }});
  time = 10.0;
  progress.update(5, "residual 1e-4");
  EXPECT_EQ(line.find("solve  residual 1e-4  ["), 0U) << line;
}

TEST(Progress, AShortLoopSaysNothing) {
  int n = 0;
  {
    Progress progress(Comm::self(), "boxes", 10, {true, 80, [&](const std::string&) { ++n; }, [] { return 0.0; }});
    for (int i = 0; i < 10; ++i) progress.update(i);
  }
  EXPECT_EQ(n, 0);
}

}  // namespace
}  // namespace karst
