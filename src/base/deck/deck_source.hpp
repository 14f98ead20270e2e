// SPDX-License-Identifier: BSD-3-Clause
// Parses the text of a deck to TOML tables, and command-line overrides. Used only by Reader: include it in .cpp files
// only.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace karst {

inline constexpr const char* command_line_name = "command line";

/// Where a value was given: a line of the deck (from 1; 0 unknown) or the command line.
struct DeckPlace {
  std::int64_t line = 0;
  bool command_line = false;
};
DeckPlace place_of(const toml::node& node);

/// Throws Error with the path and the reason when the file cannot be read.
std::string read_deck_file(const std::string& path);

/// Most parts of a dotted key: each is a table within a table, and such towers are read and deleted by recursion.
inline constexpr std::size_t most_key_parts = 64;

/// Throws Error `name:line: ...` when the text is no TOML or a key has more than most_key_parts parts.
toml::table parse_deck(std::string_view text, const std::string& name);

/// Sets key=value in the tree; keys are dotted names, with positions in lists of tables from 0
/// (geometry.solid[2].radius).
/// @returns error message, empty if there is none
std::string apply_override(toml::table& root, const std::string& text);

/// A list given as text: "64x64x64" and "1 x 1 x 2 mm" (a unit after the last value applies to all), on the command
/// line also "x,y,z". Empty if the node is not such a text.
/// @param sizes  a list of a fixed length, which may be written with x
/// @param texts  the values wanted are texts
/// @param unit   of the declaration
std::optional<toml::array> list_in_words(const toml::node& node, bool sizes, bool texts, std::string_view unit);

}  // namespace karst
