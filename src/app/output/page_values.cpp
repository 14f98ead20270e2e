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

double number(const Json& object, const char* key) { return object.at(key).get<double>(); }

std::string number_or_dash(const Json& value, int digits) {
  return value.is_null() ? "–" : fmt::format("{:.{}g}", value.get<double>(), digits);
}

std::string triple_text(const Vec3& v, int digits) {
  return fmt::format("({0:.{3}g}, {1:.{3}g}, {2:.{3}g})", v[0], v[1], v[2], digits);
}

std::string name_of(const Json& object) { return object.at("name").get<std::string>(); }

std::string with_unit(const std::string& value, const char* unit) {
  return fmt::format("{}<span class=\"unit\">{}</span>", value, unit);
}

std::string with_unit(double value, const char* unit) { return with_unit(fmt::format("{:.4g}", value), unit); }

void ColumnTable::add_column(const std::string& head, const Json& object) {
  columns_.push_back(&object);
  rows_[0].push_back(head);
}

std::string ColumnTable::html() const {
  constexpr std::size_t most = 6;  // columns beside the names that a page has room for
  if (columns_.size() <= most || rows_.size() > columns_.size() + most) return html_table(rows_);
  std::vector<std::vector<std::string>> turned(rows_[0].size());
  for (const std::vector<std::string>& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) turned[c].push_back(row[c]);
  return html_table(turned);
}

void PictureRow::add(const std::string& key) {
  const auto figure = figures_.find(key);
  if (figure == figures_.end()) return;
  pictures_ += figure->second;
  ++n_;
}

void PictureRow::add_card(const std::string& title, const std::string& note, std::vector<std::string>& cards,
                          int most) const {
  if (n_ == 0) return;
  const int columns = std::clamp(n_, 2, most);
  cards.push_back(
      card(title, fmt::format("<div class=\"slices\" style=\"--n:{}\">{}</div>\n", columns, pictures_), note));
}

std::string html_of(const Json& text) { return escape_html(text.get<std::string>()); }

}  // namespace karst
