// SPDX-License-Identifier: BSD-3-Clause
// What all pages are made of: one HTML file that needs nothing else, no wider than the screen it is read on. Wide
// tables stand in boxes that scroll by themselves; figures shrink with their column.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace karst {

/// A key figure. All texts are HTML already.
struct PageTile {
  std::string name, value, more;
};
/// Key figures side by side; empty without any.
std::string tiles_html(const std::vector<PageTile>& tiles);
/// What stands for one axis or one number of several; is not broken into lines.
std::string each_html(const std::string& html);

/// A box with a title, which is plain text; the body and the note are HTML already, the note may be empty.
std::string card(const std::string& title, const std::string& body, const std::string& note = "");
/// Cards, or columns of them, two side by side where the screen is wide enough, an odd one last and alone. Empty ones
/// are left out.
std::string pairs_html(std::vector<std::string> cards);

/// <table>...</table> in a box that scrolls.
std::string table_box(const std::string& table);
/// A table: the first row is its head, the first column its names. Cells are HTML already.
std::string html_table(const std::vector<std::vector<std::string>>& rows);
/// Names and values, plain text.
std::string facts_table(const std::vector<std::pair<std::string, std::string>>& facts);

/// All warnings, plain text; says so when there are none.
std::string warnings_html(const std::vector<std::string>& warnings);

/// The whole page.
/// @param title, source, program  plain text; the program with its version
/// @param kind                    behind the title, such as "Karst import"
/// @param body                    HTML
std::string page_html(const std::string& title, const std::string& kind, const std::string& source,
                      const std::string& body, const std::string& program);

}  // namespace karst
