// SPDX-License-Identifier: BSD-3-Clause
// Building blocks of all reports: one self-contained HTML file, no wider than the screen. Wide tables are in boxes that
// scroll separately; figures shrink with their column.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace karst {

/// A key figure. All texts are HTML already.
struct PageTile {
  std::string name, value, more;
};
/// Key figures in a row; empty without any.
std::string tiles_html(const std::vector<PageTile>& tiles);
/// Text for one axis or one number of several; not broken into lines.
std::string each_html(const std::string& html);

/// A box with a title in plain text; body and note are HTML, the note may be empty.
std::string card(const std::string& title, const std::string& body, const std::string& note = "");
/// Cards, or columns of them, in two columns if the screen is wide enough, an odd one last. Empty ones are left out.
std::string pairs_html(std::vector<std::string> cards);

/// <table>...</table> in a box that scrolls.
std::string table_box(const std::string& table);
/// A table: the first row is its head, the first column its names. Cells are HTML already.
std::string html_table(const std::vector<std::vector<std::string>>& rows);
/// Names and values, plain text.
std::string facts_table(const std::vector<std::pair<std::string, std::string>>& facts);

/// All warnings, plain text; says so if there are none.
std::string warnings_html(const std::vector<std::string>& warnings);

/// The whole page.
/// @param title, source, program  plain text; the program with its version
/// @param kind                    behind the title, such as "Karst import"
/// @param body                    HTML
std::string page_html(const std::string& title, const std::string& kind, const std::string& source,
                      const std::string& body, const std::string& program);

}  // namespace karst
