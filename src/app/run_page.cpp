// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_page.hpp"

#include <fmt/format.h>

#include "geometry_import/report_style.hpp"
#include "geometry_import/report_text.hpp"

namespace karst {

namespace {

std::string warnings_html(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "<div class=\"fine\">No warnings.</div>\n";
  std::string items;
  for (const std::string& w : warnings) items += fmt::format("<li>{}</li>", escape_html(w));
  return fmt::format("<div class=\"warnings\"><b>Please look at this</b><ul>{}</ul></div>\n", items);
}

std::string tiles_html(const std::vector<PageTile>& tiles) {
  std::string out;
  for (const PageTile& t : tiles)
    out += fmt::format(
        "<div class=\"tile\"><div class=\"name\">{}</div><div class=\"value\">{}</div><div "
        "class=\"more\">{}</div></div>\n",
        t.name, t.value, t.more);
  return out.empty() ? out : fmt::format("<div class=\"tiles\">\n{}</div>\n", out);
}

std::string facts_html(const RunPage& page) {
  std::string rows;
  for (const auto& [name, value] : page.facts)
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape_html(name), escape_html(value));
  return fmt::format(
      "<section class=\"card\"><h2>How it was computed</h2><table class=\"made\">\n{}</table>\n"
      "<details><summary>The complete deck</summary><pre>{}</pre></details></section>\n",
      rows, escape_html(page.deck));
}

}  // namespace

std::string card(const std::string& title, const std::string& body, const std::string& note) {
  return fmt::format("<section class=\"card\"><h2>{}</h2>\n{}{}</section>\n", escape_html(title), body,
                     note.empty() ? "" : fmt::format("<p class=\"soft\">{}</p>", note));
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      out += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td", c == 0 ? "" : " class=\"n\"", rows[r][c]);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string html(const RunPage& page) {
  const std::string title = escape_html(page.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{0} – Karst</title>\n<style>{1}</style></head>\n<body><main>\n<h1>{0}</h1>\n<p "
      "class=\"source\">{2}</p>\n",
      title, report_style, escape_html(page.source));
  out += warnings_html(page.warnings);
  for (const PagePart& part : page.parts) {
    out += tiles_html(part.tiles);
    for (const std::string& c : part.cards) out += c;
  }
  out += facts_html(page);
  return out + fmt::format("<footer>karst {}</footer>\n</main></body></html>\n", escape_html(page.program));
}

}  // namespace karst
