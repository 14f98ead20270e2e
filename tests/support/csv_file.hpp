// SPDX-License-Identifier: BSD-3-Clause
// Tables that a run writes.
#pragma once

#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace karst::test {

struct CsvFile {
  std::string header;
  std::vector<std::vector<double>> rows;  ///< NaN where nothing stands
};

inline CsvFile read_csv(const std::string& path) {
  CsvFile table;
  std::ifstream file(path);
  std::string line, word;
  std::getline(file, table.header);
  while (std::getline(file, line)) {
    std::vector<double>& row = table.rows.emplace_back();
    std::istringstream words(line);
    while (std::getline(words, word, ','))
      row.push_back(word.empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(word));
  }
  return table;
}

}  // namespace karst::test
