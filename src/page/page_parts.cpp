// SPDX-License-Identifier: BSD-3-Clause
#include "page/page_parts.hpp"

#include <fmt/core.h>

#include "page/page_style.hpp"
#include "page/page_text.hpp"

namespace karst {

std::string tiles_html(const std::vector<PageTile>& tiles) {
  std::string out;
  for (const PageTile& t : tiles)
    out += fmt::format(
        "<div class=\"tile\"><div class=\"name\">{}</div><div class=\"value\">{}</div><div "
        "class=\"more\">{}</div></div>\n",
        t.name, t.value, t.more);
  const int columns = tiles.size() % 4 != 0 && tiles.size() % 3 == 0 ? 3 : 4;
  return out.empty() ? out : fmt::format("<div class=\"tiles\" style=\"--n:{}\">\n{}</div>\n", columns, out);
}

std::string each_html(const std::string& html) { return fmt::format("<span class=\"each\">{}</span> ", html); }

std::string card(const std::string& title, const std::string& body, const std::string& note) {
  return fmt::format("<section class=\"card\"><h2>{}</h2>\n{}{}</section>\n", escape_html(title), body,
                     note.empty() ? "" : fmt::format("<p class=\"soft\">{}</p>", note));
}

std::string pairs_html(std::vector<std::string> cards) {
  std::erase(cards, "");
  std::string out;
  for (std::size_t i = 0; i < cards.size(); i += 2)
    out += i + 1 == cards.size()
               ? cards[i]
               : fmt::format("<div class=\"pair\">\n<div>{}</div>\n<div>{}</div></div>\n", cards[i], cards[i + 1]);
  return out;
}

std::string table_box(const std::string& table) { return fmt::format("<div class=\"scroll\">{}</div>\n", table); }

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      out += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td", c == 0 ? "" : " class=\"n\"", rows[r][c]);
    out += "</tr>\n";
  }
  return table_box(out + "</table>");
}

std::string facts_table(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string rows;
  for (const auto& [name, value] : facts)
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape_html(name), escape_html(value));
  return table_box(fmt::format("<table class=\"made\">\n{}</table>", rows));
}

std::string warnings_html(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "<div class=\"fine\">No warnings.</div>\n";
  std::string items;
  for (const std::string& w : warnings) items += fmt::format("<li>{}</li>\n", escape_html(w));
  return fmt::format("<div class=\"warnings\" role=\"alert\"><strong>{}</strong><ul>\n{}</ul></div>\n",
                     count_text(std::ssize(warnings), "warning", "warnings"), items);
}

std::string page_html(const std::string& title, const std::string& kind, const std::string& source,
                      const std::string& body, const std::string& program) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{0} – {1}</title>\n<style>{2}</style></head>\n<body><main>\n<h1>{0}</h1>\n<p "
      "class=\"source\">{3}</p>\n{4}<footer>karst {5}</footer>\n</main></body></html>\n",
      escape_html(title), kind, report_style, escape_html(source), body, escape_html(program));
}

}  // namespace karst
