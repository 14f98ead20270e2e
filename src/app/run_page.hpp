// SPDX-License-Identifier: BSD-3-Clause
// report.html: what a run was asked and what came out, on one page that needs nothing else. Its looks are those of the
// page of `karst import`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace karst {

/// A key figure. All texts are HTML already.
struct PageTile {
  std::string name, value, more;
};

/// What a job puts on the page.
struct PagePart {
  std::vector<PageTile> tiles;
  std::vector<std::string> cards;  ///< HTML, see card(); may be empty
};

struct RunPage {
  std::string title, source;          ///< plain text
  std::string program;                ///< version that computed it, plain text
  std::vector<std::string> warnings;  ///< plain text
  std::vector<PagePart> parts;
  std::vector<std::pair<std::string, std::string>> facts;  ///< plain text
  std::string deck;                                        ///< plain text
};

/// A box with a title; the body and the note are HTML already, the note may be empty.
std::string card(const std::string& title, const std::string& body, const std::string& note = "");
/// A table: the first row is its head, the first column its names. Cells are HTML already.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

/// The page. Not collective.
std::string html(const RunPage& page);

}  // namespace karst
