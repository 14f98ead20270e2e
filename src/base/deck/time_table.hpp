// SPDX-License-Identifier: BSD-3-Clause
// A quantity over the time, as lines of a file: t, value.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct TimeTable {
  std::vector<double> time, value;  ///< by increasing time

  /// Linear interpolation between the lines; constant before the first and after the last one. Two lines with the same
  /// time are a jump: from this time on the later one applies.
  double at(double t) const;
};

/// Two numbers per line, separated by a comma, semicolon, blanks or tabs; empty lines, comments after #, the byte order
/// mark of a spreadsheet and header lines are skipped. Throws Error with the line: no file, no numbers, not two of
/// them, not finite, times that decrease or occur three times, a header that gives times in a unit other than s. Not
/// collective.
TimeTable read_time_table(const std::string& path);

}  // namespace karst
