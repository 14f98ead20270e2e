// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/page_values.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

constexpr std::string_view axes = "xyz";

}  // namespace

int axis_of(const Json& object) {
  const auto name = object.at("axis").get<std::string>();
  const std::size_t axis = name.size() == 1 ? axes.find(name) : std::string_view::npos;
  if (axis == std::string_view::npos) throw JsonError(fmt::format("axis \"{}\", allowed x, y, z", name));
  return static_cast<int>(axis);
}

std::string axis_name(const Json& object) { return std::string(1, axes[axis_of(object)]); }

std::string html_of(const Json& text) { return escape_html(text.get<std::string>()); }

}  // namespace karst
