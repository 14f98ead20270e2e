// SPDX-License-Identifier: BSD-3-Clause
#include "page/run_page.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

PageTile porosity_tile(const Json& summary) {
  const bool moves = summary.contains("walls");  // its own tile has the end
  return {moves ? "Porosity at the beginning" : "Porosity", percent_text(summary.at("porosity").get<double>()),
          fmt::format("connected: {}", percent_text(summary.at("connected_porosity").get<double>()))};
}

std::string html(const RunPage& page) {
  std::string body;
  if (!page.stopped.empty())
    body += fmt::format("<div class=\"stopped\" role=\"alert\"><strong>{}</strong></div>\n", escape_html(page.stopped));
  body += warnings_html(page.warnings) + page.view;
  std::set<std::pair<std::string, std::string>> told;  // two jobs may have the same key figure
  for (PagePart part : page.parts) {
    std::erase_if(part.tiles, [&](const PageTile& t) { return !told.insert({t.name, t.value}).second; });
    body += tiles_html(part.tiles);
  }
  for (const PagePart& part : page.parts)
    for (const std::string& c : part.cards) body += c;
  body += card(
      "How it was computed",
      facts_table(page.facts) + fmt::format("<details><summary>The complete deck</summary><pre>{}</pre></details>\n",
                                            escape_html(page.deck)));
  return page_html(page.title, "Karst", page.source, body, page.program);
}

}  // namespace karst
