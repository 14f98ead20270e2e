// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "app/study/study.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/units.hpp"

namespace karst {

namespace {

constexpr const char* inputs_head =
    "# Keys of a deck\n"
    "\n"
    "Generated from the declarations in the program: `karst help --markdown`. Decks are TOML; all units are SI,\n"
    "lengths in metres. `karst help KEY` prints the same in the terminal. A key can be set on the command line:\n"
    "`grid.box=32`; tables in a list are numbered from 0: `geometry.solid[0].radius=1e-3`. Lists need no brackets\n"
    "there: `flow.axes=x,y`. A key that is not in these tables is an error.\n"
    "\n"
    "A plain number has the unit given in the tables. A text may state another unit: `voxel = \"5.3 um\"`,\n"
    "`pressure_drop = \"10 kPa\"`, `size = [\"1 mm\", \"1 mm\", \"2 mm\"]`; on the command line "
    "`flow.pressure_drop=10kPa`. Lists of\n"
    "three may be written with x: `cells = \"64x64x64\"`, `size = \"1 x 1 x 2 mm\"`. Common units; all others of the\n"
    "same quantity are accepted too (prefixes n, u, m, c, d, k, M, G; products and powers as in `kg/m3`):\n"
    "\n";

constexpr const char* study_head =
    "# Keys of a study\n"
    "\n"
    "Generated from the declarations in the program: `karst help --study --markdown`. A study is TOML; `karst study "
    "STUDY.toml`\n"
    "runs its deck for every combination of the varied values ([inputs/studies](../inputs/studies)).\n"
    "\n";

/// The units of inputs_head.
std::string unit_table() {
  std::string text = "| unit of a key | may be written with |\n|---|---|\n";
  for (const std::string_view unit : units_with_others()) text += fmt::format("| {} | {} |\n", unit, usual_units(unit));
  return text + '\n';
}

/// As much of the text as fits, cut between words.
std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, text.rfind(' ', width - 4)) + " ...";
}

/// One line per key, table by table.
std::string overview(const std::vector<KeyInfo>& keys) {
  std::size_t width = 0;
  for (const KeyInfo& k : keys) width = std::max(width, k.key.size());
  std::string text = "Keys (`karst help KEY` explains one; decks and studies are TOML, units are SI):\n";
  std::string table = "?";
  for (const KeyInfo& k : keys) {
    if (table_of(k.key) != table) text += '\n';
    table = table_of(k.key);
    text += fmt::format("  {:<{}}  {}\n", k.key, width, shortened(k.help, 110 - width));
  }
  return text;
}

std::string help_on(const std::vector<KeyInfo>& keys, const std::string& asked) {
  std::string text;
  std::vector<std::string> names;
  const auto know = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const KeyInfo& k : keys) {
    const std::string name = without_positions(k.key);
    know(name);
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      know(name.substr(0, dot));
    if (name == asked || name.starts_with(fmt::format("{}.", asked)))
      text += fmt::format("{}{}", text.empty() ? "" : "\n", help_text(k));
  }
  if (!text.empty()) return text;
  std::string near = nearest(asked, names);
  for (const std::string& name : names)  // a key named without its table
    if (near.empty() && name.ends_with(fmt::format(".{}", asked))) near = name;
  throw Error(fmt::format("no key or table \"{}\" in a deck{}; `karst help` lists them all", asked,
                          near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near)));
}

}  // namespace

std::string help_command(const CommandLine& line) {
  const std::vector<KeyInfo> keys = line.of_study ? study_keys() : deck_keys();
  if (line.markdown && line.of_study) return study_head + markdown_table(keys);
  if (line.markdown) return inputs_head + unit_table() + markdown_table(keys);
  return line.key.empty() ? overview(keys) : help_on(keys, without_positions(line.key));
}

}  // namespace karst
