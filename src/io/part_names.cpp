// SPDX-License-Identifier: BSD-3-Clause
#include "io/part_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace karst {

namespace {

constexpr std::string_view ending = ".part";

}  // namespace

std::string part_name(const std::string& plotfile, int part) { return fmt::format("{}{}{}", plotfile, ending, part); }

std::string whole_of(const std::string& name) {
  const std::size_t at = name.rfind(ending);
  if (at == std::string::npos) return name;
  int part = 0;
  const char *first = name.data() + at + ending.size(), *last = name.data() + name.size();
  const auto read = std::from_chars(first, last, part);
  return read.ec == std::errc() && read.ptr == last && part > 0 ? name.substr(0, at) : name;
}

std::vector<std::string> parts_beside(const std::string& plotfile) {
  std::vector<std::string> names;
  std::error_code ignored;
  while (std::filesystem::exists(part_name(plotfile, static_cast<int>(names.size()) + 1), ignored))
    names.push_back(part_name(plotfile, static_cast<int>(names.size()) + 1));
  return names;
}

}  // namespace karst
