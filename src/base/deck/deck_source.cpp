// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/deck_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/units.hpp"

namespace karst {

DeckPlace place_of(const toml::node& node) {
  const toml::source_region& source = node.source();
  if (source.path && *source.path == command_line_name) return {0, true};
  return {source.begin.line, false};
}

std::string read_deck_file(const std::string& path) {
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "{}: is a directory; give the path of a deck (TOML file)",
          path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot read the deck: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  require(!file.bad(), "{}: cannot read the deck: {}", path, std::strerror(errno));
  return text.str();
}

namespace {

/// End of the string that begins at a quotation mark: behind it, at the end of its line or of the text when it is open.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char mark = text[begin];
  const bool many_lines = text.substr(begin, 3) == std::string(3, mark);
  const std::string end(many_lines ? 3 : 1, mark);
  for (std::size_t i = begin + end.size(); i < text.size(); ++i) {
    if (!many_lines && text[i] == '\n') return i;
    if (mark == '"' && text[i] == '\\')
      ++i;
    else if (text.substr(i, end.size()) == end)
      return i + end.size();
  }
  return text.size();
}

/// Refuses keys of so many parts that the parser, which descends into them, would run out of stack.
void check_keys(std::string_view text, const std::string& name) {
  std::size_t dots = 0;  // between the parts of what may be a key
  std::int64_t line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    line += c == '\n';
    if (c == '.') {
      require(++dots < most_key_parts, "{}:{}: a key of more than {} parts; the keys of decks have up to 4", name, line,
              most_key_parts);
    } else if (c == '#' || c == '\n' || c == '=' || c == ',') {
      dots = 0;
    }
    if (c == '#')
      i = std::min(text.find('\n', i), text.size());
    else if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, i);
      line += std::count(text.begin() + i, text.begin() + end, '\n');
      i = end;
    } else
      ++i;
  }
}

}  // namespace

toml::table parse_deck(std::string_view text, const std::string& name) {
  check_keys(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}:{}: column {}: not valid TOML: {}", name, e.source().begin.line,
                            e.source().begin.column, e.description()));
  }
}

namespace {

/// The value of an override as a table with the one key "value"; text that is no TOML value counts as a bare word.
toml::table parse_value(const std::string& text) {
  try {
    toml::table parsed = toml::parse("value = " + text, std::string(command_line_name));
    if (parsed.size() == 1 && parsed.contains("value")) return parsed;
  } catch (const toml::parse_error&) {
    require(text.empty() || std::strchr("[{\"'", text.front()) == nullptr, "{} is not a TOML value", text);
  }
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  try {
    return toml::parse("value = \"" + escaped + '"', std::string(command_line_name));
  } catch (const toml::parse_error&) {
    throw Error("the value is neither a TOML value nor a word");
  }
}

/// Table of position `number` in the list; empty reason when found.
toml::table* item_of(toml::node* node, std::string_view name, std::string_view number, std::string& reason) {
  toml::array* list = node != nullptr ? node->as_array() : nullptr;
  std::size_t i = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), i);
  const std::size_t n = list != nullptr ? list->size() : 0;
  if (failure != std::errc{} || end != number.data() + number.size() || i >= n) {
    reason = fmt::format("{}[{}] is not in the deck, which has {} of them (counted from 0)", name, number, n);
    return nullptr;
  }
  toml::table* table = list->get(i)->as_table();
  if (table == nullptr) reason = fmt::format("{}[{}] is not a table", name, number);
  return table;
}

/// The table called `part` (name or name[number]) inside another, made when it is not there yet.
toml::table* step(toml::table& at, const std::string& part, std::string& reason) {
  const std::size_t bracket = part.find('[');
  if (bracket != std::string::npos && part.ends_with(']')) {
    const std::string name = part.substr(0, bracket);
    const std::string_view number = std::string_view(part).substr(bracket + 1, part.size() - bracket - 2);
    return item_of(at.get(name), name, number, reason);
  }
  if (!at.contains(part)) at.insert(part, toml::table{});
  toml::table* table = at.get(part)->as_table();
  if (table == nullptr) reason = fmt::format("{} is not a table in the deck", part);
  return table;
}

}  // namespace

std::string apply_override(toml::table& root, const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos) return "not understood; write key=value, for example grid.box=16";
  std::vector<std::string> parts = split(text.substr(0, equal), '.');
  for (std::string& p : parts) {
    p.erase(0, p.find_first_not_of(' '));
    p.erase(p.find_last_not_of(' ') + 1);
    if (p.empty()) return "the key is empty; write key=value, for example grid.box=16";
  }
  if (parts.size() > most_key_parts) return fmt::format("a key of more than {} parts", most_key_parts);
  std::string reason;
  toml::table* at = &root;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    at = step(*at, parts[i], reason);
    if (at == nullptr) return reason;
  }
  try {
    toml::table parsed = parse_value(text.substr(equal + 1));
    parsed.get("value")->visit([&](auto& value) { at->insert_or_assign(parts.back(), std::move(value)); });
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

namespace {

/// "1 x 1 x 2 mm" as "1", "1", "2 mm"; empty when there is no x in it.
std::vector<std::string> split_sizes(std::string text) {
  constexpr std::string_view cross = "\u00d7";
  for (std::size_t at; (at = text.find(cross)) != std::string::npos;) text.replace(at, cross.size(), "x");
  std::vector<std::string> parts = split(text, 'x');
  return parts.size() > 1 ? parts : std::vector<std::string>();
}

/// The unit behind the last size holds for those without one.
void share_unit(std::vector<std::string>& sizes) {
  constexpr const char* of_numbers = "+-.0123456789eE ";
  const std::size_t unit = sizes.back().find_first_not_of(of_numbers);
  if (unit == std::string::npos) return;
  for (std::string& size : sizes)
    if (size.find_first_not_of(of_numbers) == std::string::npos) size += ' ' + sizes.back().substr(unit);
}

}  // namespace

std::optional<toml::array> list_in_words(const toml::node& node, bool sizes, bool texts, std::string_view unit) {
  const auto* text = node.as_string();
  if (text == nullptr) return {};
  const bool commas = place_of(node).command_line && (!sizes || text->get().find(',') != std::string::npos);
  std::vector<std::string> parts;
  if (commas) {
    parts = split(text->get(), ',');
  } else if (sizes) {
    parts = split_sizes(text->get());
    if (!parts.empty() && is_physical(unit)) share_unit(parts);
  }
  if (parts.empty()) return {};
  toml::array list;
  for (const std::string& part : parts) {
    if (texts) {
      list.push_back(part);
      continue;
    }
    try {
      toml::table parsed = parse_value(part);
      parsed.get("value")->visit([&](auto& value) { list.push_back(std::move(value)); });
    } catch (const Error&) {  // refused as what it is
      list.push_back(part);
    }
  }
  return list;
}

}  // namespace karst
