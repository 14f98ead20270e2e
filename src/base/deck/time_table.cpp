// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/time_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/core/error.hpp"

namespace karst {

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
    line = line.substr(0, line.find('#'));
    std::ranges::replace_if(
        line, [](char c) { return c == ',' || c == ';' || c == '\t' || c == '\r'; }, ' ');
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    std::istringstream in(line);
    double t = 0.0, value = 0.0;
    std::string more;
    const bool number = static_cast<bool>(in >> t), numbers = number && static_cast<bool>(in >> value);
    if (!number && table.time.empty()) continue;  // names
    require(numbers && !(in >> more), "{}:{}: \"{}\" is not two numbers, time [s] and value", path, n, line);
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
  require(!table.time.empty(), "{}: holds no line of two numbers, time [s] and value", path);
  return table;
}

}  // namespace karst
