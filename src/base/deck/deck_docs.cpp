// SPDX-License-Identifier: BSD-3-Clause
// What the declarations of the deck say, for people: `karst help KEY` and docs/inputs.md.
#include <fmt/format.h>

#include "base/core/text.hpp"
#include "base/core/units.hpp"
#include "base/deck/deck.hpp"

namespace karst {

namespace {

/// Table of a key as it stands in a deck: [grid], [[geometry.solid]], "" for keys before the first table.
std::string table_header(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) return "";
  std::string table = key.substr(0, dot);
  const bool item = table.ends_with("[]");
  for (std::size_t at; (at = table.find("[]")) != std::string::npos;) table.erase(at, 2);
  return item ? fmt::format("[[{}]]", table) : fmt::format("[{}]", table);
}

/// How the value may be written with another unit; nothing for units that have no others.
std::string other_units(const std::string& unit) {
  const std::string usual = usual_units(unit);
  return usual.empty() ? "" : fmt::format("; other units as a text: {}", usual);
}

std::string in_table_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string help_text(const KeyInfo& key) {
  std::string text = fmt::format("{}  ({})\n", key.key, key.type);
  if (!key.help.empty()) text += fmt::format("  {}\n", key.help);
  if (!key.unit.empty() && key.unit != "-") text += fmt::format("  unit     {}{}\n", key.unit, other_units(key.unit));
  if (!key.default_value.empty()) text += fmt::format("  default  {}\n", key.default_value);
  if (!key.allowed.empty()) text += fmt::format("  allowed  {}\n", key.allowed);
  return text;
}

std::string markdown_table(const std::vector<KeyInfo>& keys) {
  std::vector<std::string> headers;  // in order of first appearance
  std::vector<std::string> rows;
  for (const KeyInfo& k : keys) {
    const std::string header = table_header(k.key);
    std::size_t h = 0;
    while (h < headers.size() && headers[h] != header) ++h;
    if (h == headers.size()) {
      headers.push_back(header);
      rows.emplace_back();
    }
    const std::string name = k.key.substr(k.key.rfind('.') + 1);
    rows[h] += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", name, in_table_cell(k.type), in_table_cell(k.unit),
                           k.default_value.empty() ? "" : fmt::format("`{}`", in_table_cell(k.default_value)),
                           in_table_cell(k.allowed), in_table_cell(k.help));
  }
  std::string text;
  for (std::size_t h = 0; h < headers.size(); ++h) {
    if (!text.empty()) text += '\n';
    text += headers[h].empty() ? "### Before the first table\n\n" : fmt::format("### `{}`\n\n", headers[h]);
    text += "| key | type | unit | default | allowed | meaning |\n|---|---|---|---|---|---|\n" + rows[h];
  }
  return text;
}

}  // namespace karst
