// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/page_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

int axis_of(const Json& object) {
  const auto name = object.at("axis").get<std::string>();
  const auto found = std::ranges::find(axis_names, name);
  if (found == axis_names.end()) throw JsonError(fmt::format("axis \"{}\", allowed x, y, z", name));
  return static_cast<int>(found - axis_names.begin());
}

std::string axis_name(const Json& object) { return axis_names[axis_of(object)]; }

std::string html_of(const Json& text) { return escape_html(text.get<std::string>()); }

}  // namespace karst
