// SPDX-License-Identifier: BSD-3-Clause
// Tables that a run writes.
#pragma once

#include <fstream>
#include <limits>
#include <map>
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

/// The columns of a table, by name.
inline std::map<std::string, std::vector<double>> read_columns(const std::string& path) {
  const CsvFile table = read_csv(path);
  std::map<std::string, std::vector<double>> columns;
  std::istringstream names(table.header);
  std::string name;
  for (std::size_t c = 0; std::getline(names, name, ','); ++c)
    for (const std::vector<double>& row : table.rows)
      columns[name].push_back(c < row.size() ? row[c] : std::numeric_limits<double>::quiet_NaN());
  return columns;
}

}  // namespace karst::test
