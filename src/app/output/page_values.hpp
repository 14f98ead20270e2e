// SPDX-License-Identifier: BSD-3-Clause
// Values of summary.json on pages. The file may be anybody's: what is no text, no number in its range or no axis is a
// JsonError, and texts become HTML only here.
#pragma once

#include <string>
#include <vector>

#include "base/math/triple.hpp"
#include "page/run_page.hpp"

namespace karst {

class Json;

double number(const Json& object, const char* key);
/// "–" for null.
std::string number_or_dash(const Json& value, int digits = 4);
/// "(1, 2, 3)"
std::string triple_text(const Vec3& v, int digits = 5);
/// The member "name".
std::string name_of(const Json& object);

/// 0, 1, 2 of the member "axis": "x", "y" or "z".
int axis_of(const Json& object);
/// "x", "y", "z" of the same.
std::string axis_name(const Json& object);
/// A text as HTML.
std::string html_of(const Json& text);
/// A number with its unit in small letters.
std::string with_unit(const std::string& value, const char* unit);
std::string with_unit(double value, const char* unit);  ///< four digits

/// A table with a column for each object of a list, and a row for each quantity; turned where there are many objects.
class ColumnTable {
 public:
  /// @param corner  above the names of the rows
  explicit ColumnTable(const std::string& corner = "") : rows_{{corner}} {}
  void add_column(const std::string& head, const Json& object);
  /// @param text  of an object
  template <class Text>
  void row(const std::string& name, Text&& text) {
    rows_.push_back({name});
    for (const Json* c : columns_) rows_.back().push_back(text(*c));
  }
  const std::vector<const Json*>& columns() const { return columns_; }
  std::string html() const;

 private:
  std::vector<const Json*> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The pictures of a page that there are, side by side.
class PictureRow {
 public:
  explicit PictureRow(const Figures& figures) : figures_(figures) {}
  void add(const std::string& key);
  /// Adds a card, unless there is no picture.
  /// @param most  pictures in a row; there is room for two at least
  void add_card(const std::string& title, const std::string& note, std::vector<std::string>& cards, int most = 3) const;

 private:
  const Figures& figures_;
  std::string pictures_;
  int n_ = 0;
};

}  // namespace karst
