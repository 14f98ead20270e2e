// SPDX-License-Identifier: BSD-3-Clause
// Is a page well formed? Every tag closed, attributes quoted, & only before entities.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace karst::test {

/// "" when it is, else what is wrong.
inline std::string wrong_with_tags(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '&') {
      const std::size_t end = page.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789#", i + 1);
      if (end == std::string::npos || end == i + 1 || page[end] != ';') return "bare & at " + page.substr(i, 20);
    }
    if (page[i] != '<') continue;
    const std::size_t start = i;
    bool quoted = false;
    for (++i; i < page.size() && (quoted || page[i] != '>'); ++i) {
      if (page[i] == '"') quoted = !quoted;
      if (page[i] == '<') return "< inside of " + page.substr(start, 40);
    }
    if (i == page.size()) return "not ended: " + page.substr(start, 40);
    const std::string tag = page.substr(start + 1, i - start - 1);
    if (tag.starts_with("!DOCTYPE")) continue;
    if (tag.empty() || !(std::isalpha(static_cast<unsigned char>(tag[0])) || tag[0] == '/')) return "no tag: <" + tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open: " + tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace karst::test
