// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/units.hpp"

namespace karst {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets begin CSV files in UTF-8 with it

bool is_number(const std::string& word) {
  std::istringstream in(word);
  double value = 0.0;
  std::string more;
  return static_cast<bool>(in >> value) && !(in >> more);
}

/// "time [h]", "t (days)", "time_min": the unit in which a header states the time, where that is not s; else empty.
std::string unit_of_time(const std::string& header) {
  constexpr std::string_view brackets = "[](){}_/ \t\"'";
  std::string words = header.substr(0, header.find_first_of(",;\t"));
  std::ranges::replace_if(
      words, [&](char c) { return brackets.find(c) != std::string_view::npos; }, ' ');
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    for (const char* many : {"minutes", "hours", "days", "weeks", "months", "years", "minute", "hour", "day", "week",
                             "month", "year", "hrs", "hr", "yr"})
      if (word == many) return word;
    const Measured one = measured("1 " + word, "s");
    if (one.problem.empty() && one.value != 1.0) return word;
  }
  return {};
}

/// Of a line before the first numbers: names of the columns, with times in seconds.
void check_header(const std::string& path, int n, const std::string& header, const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  require(words.size() != 2 || !is_number(words[1]), "{}:{}: \"{}\" is not two numbers, time [s] and value", path, n,
          header);
  const std::string unit = unit_of_time(header);
  require(
      unit.empty(),
      "{}:{}: the header \"{}\" gives times in {}, and times of a table are in seconds; convert them, and write s in "
      "the header",
      path, n, header, unit);
}

}  // namespace

double TimeTable::at(double t) const {
  const auto next = std::ranges::upper_bound(time, t);
  if (next == time.begin()) return value.front();
  if (next == time.end()) return value.back();
  const std::size_t i = next - time.begin();
  const double part = (t - time[i - 1]) / (time[i] - time[i - 1]);
  return value[i - 1] + part * (value[i] - value[i - 1]);
}

TimeTable read_time_table(const std::string& path) {
  std::ifstream file(path);
  require(file.good(), "{}: cannot be read; expected: a text file with two numbers per line, time [s] and value", path);
  TimeTable table;
  std::string line;
  for (int n = 1; std::getline(file, line); ++n) {
    if (n == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    line = line.substr(0, line.find('#'));
    const std::string whole = line.substr(0, line.find('\r'));
    std::ranges::replace_if(
        line, [](char c) { return c == ',' || c == ';' || c == '\t' || c == '\r'; }, ' ');
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    std::istringstream in(line);
    double t = 0.0, value = 0.0;
    std::string more;
    const bool number = static_cast<bool>(in >> t), numbers = number && static_cast<bool>(in >> value);
    if (!number && table.time.empty()) {
      check_header(path, n, whole, line);
      continue;
    }
    require(numbers && !(in >> more), "{}:{}: \"{}\" is not two numbers, time [s] and value", path, n, whole);
    require(std::isfinite(t) && std::isfinite(value), "{}:{}: time and value must be finite", path, n);
    require(table.time.empty() || t >= table.time.back(), "{}:{}: the time {:g} s follows {:g} s; times must increase",
            path, n, t, table.time.empty() ? 0.0 : table.time.back());
    const std::size_t lines = table.time.size();
    require(lines < 2 || t > table.time[lines - 2],
            "{}:{}: the time {:g} s occurs three times; two lines with the same time are a jump, otherwise times must "
            "increase",
            path, n, t);
    table.time.push_back(t);
    table.value.push_back(value);
  }
  require(file.eof(), "{}: cannot be read to its end; is it a plain file?", path);
  require(!table.time.empty(), "{}: holds no line of two numbers, time [s] and value", path);
  return table;
}

}  // namespace karst
