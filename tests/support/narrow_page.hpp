// SPDX-License-Identifier: BSD-3-Clause
// Can a page become wider than the screen? Judged by how it is built, without a browser.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace karst::test {

/// "" for an attribute that is not there.
inline std::string attribute(const std::string& tag, const std::string& name) {
  const std::size_t at = tag.find(' ' + name + "=\"");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 3;
  return tag.substr(begin, tag.find('"', begin) - begin);
}

/// "" when it cannot, else what can: a table outside of a box that scrolls, a figure of fixed size, a style that asks
/// for columns or a width in pixels, or one of the rules missing that wrap words and shrink figures.
inline std::string wider_than_screen(const std::string& page) {
  for (const char* rule :
       {"name=\"viewport\" content=\"width=device-width", ".scroll{overflow-x:auto",
        "h1{font-size:25px;margin:0;font-weight:650;overflow-wrap:anywhere}",
        ".source{color:var(--soft);margin:2px 0 14px;overflow-wrap:anywhere}", "svg.chart{display:block;width:100%",
        "svg.body{display:block;width:100%", ".stack img{display:block;width:100%",
        "pre{font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere", "minmax(0,1fr)"})
    if (page.find(rule) == std::string::npos) return std::string("lacks ") + rule;
  std::vector<std::string> open;
  for (std::size_t i = page.find("<body>"); i < page.size(); i = page.find('<', i + 1)) {
    std::string tag = page.substr(i + 1, page.find('>', i) - i - 1);
    if (tag == "/body") break;
    if (tag.starts_with("/")) {
      open.pop_back();
      continue;
    }
    const std::string name = tag.substr(0, tag.find_first_of(" />\n")), style = attribute(tag, "style");
    if (name == "table" && open.back() != "div class=\"scroll\"") return "outside of a box that scrolls: " + tag;
    const bool inside = std::ranges::any_of(open, [](const std::string& t) { return t.starts_with("svg"); });
    if (name == "svg" && !inside &&
        (attribute(tag, "viewBox").empty() || !attribute(tag, "width").empty() ||
         (attribute(tag, "class") != "chart" && attribute(tag, "class") != "body")))
      return "of fixed size: " + tag;
    if (name == "img" && open.back().find("class=\"stack\" style=\"width:") == std::string::npos)
      return "a picture of fixed size: " + tag.substr(0, 60);
    if (!inside && (style.find("columns") != std::string::npos || style.find("min-width") != std::string::npos ||
                    style.find("nowrap") != std::string::npos ||
                    (style.find("width:") != std::string::npos && style.find("max-width:") == std::string::npos &&
                     style.find('%') == std::string::npos)))
      return "style: " + style;
    if (!tag.ends_with("/")) open.push_back(tag);
  }
  return {};
}

}  // namespace karst::test
