// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace karst {

void Messages::finish() const { require(empty(), "{}", join(*this, "\n")); }

int edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table d(i, j): distance of the first i letters of a to the first j of b.
  std::vector<int> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  int best = word.size() <= 3 ? 2 : std::max(2, static_cast<int>(word.size()) / 3) + 1;
  std::string found;
  for (const std::string& c : candidates) {
    const int d = edit_distance(word, c);
    if (d < best && d < static_cast<int>(std::max(word.size(), c.size()))) {
      best = d;
      found = c;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : " (did you mean \"" + near + "\"?)";
}

std::string or_rather(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

}  // namespace karst
