// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/read_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/core/text.hpp"

namespace karst {

bool read_axes(Reader& in, std::string_view key, std::vector<int>& axes, std::string_view help) {
  std::vector<std::string> words;
  for (const int axis : axes) words.emplace_back(axis_names[axis]);
  in.texts(key, words, help);
  if (in.documenting()) return words.empty();
  axes.clear();
  for (const std::string& word : words) {
    const auto axis = std::ranges::find(axis_names, word) - axis_names.begin();
    if (axis == std::ssize(axis_names))
      in.mistake(key, fmt::format("\"{}\" is not an axis; allowed: \"x\", \"y\", \"z\"", word));
    else if (std::ranges::count(axes, static_cast<int>(axis)) > 0)
      in.mistake(key, fmt::format("\"{}\" is listed twice; name it once", word));
    else
      axes.push_back(static_cast<int>(axis));
  }
  std::ranges::sort(axes);
  return words.empty();
}

}  // namespace karst
