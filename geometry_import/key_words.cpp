// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/key_words.hpp"

namespace karst {

namespace {

/// "names = [\"pore\", \"quartz\"]" as "--names pore,quartz".
std::string as_option(std::string_view key) {
  const std::size_t equal = key.find(" = ");
  std::string option = "--" + std::string(key.substr(0, equal));
  if (equal == std::string_view::npos) return option;
  option += ' ';
  const std::string_view value = key.substr(equal + 3);
  const bool list = value.starts_with('[');
  for (std::size_t n = 0; n < value.size(); ++n) {
    const char c = value[n];
    const bool dropped = c == '[' || c == ']' || c == '"' || (c == ' ' && value[n - 1] == ',');
    if (!list || !dropped) option += c;
  }
  return option;
}

}  // namespace

std::string with_keys_said(std::string_view text, bool by_options) {
  std::string said;
  for (;;) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos) return said + std::string(text);
    const std::string_view key = text.substr(begin + 1, end - begin - 1);
    said += text.substr(0, begin);
    if (key.starts_with("karst "))
      said += text.substr(begin, end + 1 - begin);
    else
      said += by_options ? as_option(key) : std::string(key);
    text.remove_prefix(end + 1);
  }
}

}  // namespace karst
