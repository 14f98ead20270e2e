// SPDX-License-Identifier: BSD-3-Clause
#include "eb/mineral_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

MineralNumber place(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<MineralNumber>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

std::string wrong_mineral_name(const std::string& name) {
  if (name.empty()) return "is empty; a mineral needs a name";
  for (const char* reserved : {"pore", other_minerals, surroundings})
    if (name == reserved) return fmt::format("\"{}\" is a reserved name; give the mineral another name", name);
  return {};
}

MineralChoice choose_minerals(const std::vector<std::string>& there, const std::vector<std::string>& asked) {
  MineralChoice choice;
  std::vector<std::string> wrong;
  const auto is_left_out = [&](const std::string& name) { return name != surroundings && !has(asked, name); };
  const bool others = !asked.empty() && std::ranges::any_of(there, is_left_out);
  for (const std::string& name : asked) {
    if (has(choice.names, name)) wrong.push_back(fmt::format("\"{}\" is listed twice; name it once", name));
    if (!has(there, name))
      wrong.push_back(fmt::format("there is no mineral \"{}\"{}; the minerals are {}", name, did_you_mean(name, there),
                                  join(there)));
    choice.names.push_back(name);
  }
  if (others) choice.names.emplace_back(other_minerals);
  for (const std::string& name : there)
    if (asked.empty() || name == surroundings) choice.names.push_back(name);
  require(wrong.empty(), "{}", join(wrong, "\n"));
  require(choice.names.size() < no_mineral, "{} minerals are to be distinguished on the wall; at most {} are possible",
          choice.names.size(), no_mineral - 1);
  for (const std::string& name : there)
    choice.number.push_back(place(choice.names, has(choice.names, name) ? name : other_minerals));
  return choice;
}

}  // namespace karst
