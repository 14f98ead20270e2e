// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::log_test {
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
  EXPECT_TRUE(text.starts_with("/proc/no_such_folder/log.txt: cannot be written: ")) << text;
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

TEST(ProgressLine, ShowsPartTimeLeftAndWhatIsDone) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const ProgressState half{0.5, 130.2, "stokes x", "iteration 12, residual 1.2e-03, k = 7.53 D"};
  EXPECT_EQ(
      progress_line(half, 200),
      "[###############...............]   50 %  2 min 10 s left  stokes x: iteration 12, residual 1.2e-03, k = 7.53 D");
  EXPECT_EQ(progress_line({0.0, unknown, "import"}, 80), "[..............................]    0 %  import");
  EXPECT_EQ(progress_line({0.999, 1e-3, "output"}, 80),
            "[#############################.]   99 %  1.00 ms left  output");
}

// However narrow the terminal, what is shown is whole: the shorter line is the longer one without some of its pieces.
TEST(ProgressLine, NoNumberIsCut) {
  const ProgressState half{0.5, 130.2, "stokes x", "iteration 12, residual 1.2e-03, k = 7.53 D"};
  const std::set<std::string> whole{"",
                                    " 50 %",
                                    " 50 %  2 min 10 s left",
                                    " 50 %  2 min 10 s left  stokes x",
                                    " 50 %  2 min 10 s left  stokes x: iteration 12",
                                    " 50 %  2 min 10 s left  stokes x: iteration 12, residual 1.2e-03",
                                    " 50 %  2 min 10 s left  stokes x: iteration 12, residual 1.2e-03, k = 7.53 D"};
  std::set<std::string> seen;
  for (int width = 0; width < 120; ++width) {
    std::string line = progress_line(half, width);
    EXPECT_LE(line.size(), static_cast<std::size_t>(width));
    if (line.starts_with('[')) line = line.substr(line.find(']') + 3);
    EXPECT_TRUE(whole.contains(line)) << line;
    seen.insert(line);
  }
  EXPECT_EQ(seen, whole);
  EXPECT_EQ(progress_line({0.5, 4e-5, "x"}, 15), " 50 %");  // 40.0 µs left: 18 letters
  EXPECT_EQ(progress_line({0.5, 4e-5, ""}, 20), " 50 %  40.0 µs left");
}

TEST(Progress, WritesSeldomWithoutATerminal) {
  double time = 100.0;
  std::vector<double> when;
  Progress progress({false, 80, [&](const std::string&) { when.push_back(time); }, [&] { return time; }});
  for (int i = 0; i < 1000; ++i, time += 1.0)
    if (progress.is_due()) progress.write({1e-3 * i, 1.0, "boxes"});
  ASSERT_GE(when.size(), 10U);
  EXPECT_EQ(when.front(), 105.0);
  for (std::size_t i = 1; i < when.size(); ++i)
    EXPECT_TRUE(when[i] - when[i - 1] >= 5.0 && when[i] - when[i - 1] <= 61.0);
}

TEST(Progress, OverwritesItsLineOnATerminalAndClearsIt) {
  double time = 0.0;
  std::vector<std::string> lines;
  {
    Progress progress({true, 80, [&](const std::string& text) { lines.push_back(text); }, [&] { return time; }});
    for (int i = 0; i < 10000; ++i, time += 1e-4)
      if (progress.is_due()) progress.write({1e-4 * i, 1.0, "boxes"});
  }
  EXPECT_LE(lines.size(), 6U);  // 5 a second, and the end
  EXPECT_GE(lines.size(), 5U);
  for (const auto& l : lines) EXPECT_EQ(l.find("\r\033[K"), 0U);
  EXPECT_EQ(lines.back(), "\r\033[K");
}

TEST(Progress, WhatIsShortSaysNothing) {
  int n = 0;
  {
    Progress progress({true, 80, [&](const std::string&) { ++n; }, [] { return 0.0; }});
    for (int i = 0; i < 10; ++i)
      if (progress.is_due()) progress.write({});
  }
  EXPECT_EQ(n, 0);
}

}  // namespace
}  // namespace karst::log_test
