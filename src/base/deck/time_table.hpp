// SPDX-License-Identifier: BSD-3-Clause
// A quantity over the time, as lines of a file: t, value.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct TimeTable {
  std::vector<double> time, value;  ///< by increasing time

  /// Straight between the lines; before the first and behind the last one their values. Two lines of one time are a
  /// jump: from this time on the later one holds.
  double at(double t) const;
};

/// Two numbers per line, parted by a comma, semicolon, blanks or tabs; empty lines, what follows a # and a first line
/// of words are passed over. Throws Error with the line: no file, no numbers, not two of them, not finite, times that
/// decrease, or stand three times. Not collective.
TimeTable read_time_table(const std::string& path);

}  // namespace karst
