// SPDX-License-Identifier: BSD-3-Clause
// report.html: what a run was asked and what came out, made of the parts that the page of `karst import` is made of.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "page/page_parts.hpp"

namespace karst {

class Json;

/// Pieces of HTML by name; on rank 0 alone.
using Figures = std::map<std::string, std::string>;

/// What a job puts on the page: key figures, which stand at the top, and cards.
struct PagePart {
  std::vector<PageTile> tiles;
  std::vector<std::string> cards;  ///< HTML, see card(); may be empty
};

struct RunPage {
  std::string title, source;          ///< plain text
  std::string program;                ///< version that computed it, plain text
  std::string stopped;                ///< why results are missing, plain text; empty: none are
  std::vector<std::string> warnings;  ///< plain text
  std::string view;                   ///< HTML: where the view to turn is; may be empty
  std::vector<PagePart> parts;
  std::vector<std::pair<std::string, std::string>> facts;  ///< plain text
  std::string deck;                                        ///< plain text
};

/// Of the sample, from summary.json.
PageTile porosity_tile(const Json& summary);

/// The page. Not collective.
std::string html(const RunPage& page);

}  // namespace karst
