// SPDX-License-Identifier: BSD-3-Clause
// A quantity is said once (decision 050): a result has a table, a function that hands each of its members to a reader,
// with its name, its unit and where it is shown. What writes or reads the result is such a reader:
//
//   void each_quantity(Of<Line> auto& l, auto&& f) {
//     f(Quantity{"time", "s", shown::csv | shown::record}, l.time);
//     ...
//
//   each_quantity(l, CsvLine{line});
//
// A member may be a result with a table of its own, or a list of them: in JSON these are objects; or optional: null.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/symmetric_eigen.hpp"
#include "base/math/triple.hpp"

namespace karst {

/// Where a quantity is shown: in a line of a CSV, in summary.json at the end and over the time, in what is kept of a
/// run, in the rows of the log.
namespace shown {
inline constexpr unsigned csv = 1, json = 2, history = 4, record = 8, text = 16;
}

/// A result that is read, or one that is written.
template <class T, class Result>
concept Of = std::same_as<std::remove_const_t<T>, Result>;

struct Quantity {
  std::string name;
  std::string unit{};                  ///< as names have it, "m_s"; empty: none
  unsigned where = shown::record;      ///< bits of `shown`
  const char* digits = "{:.10g}";      ///< in a CSV
  std::string label{};                 ///< of its row of text
  const char* text_digits = "{:.4g}";  ///< there

  bool in(unsigned place) const { return (where & place) != 0; }
  /// Member of summary.json, column of a CSV: "darcy_velocity_m_s"; of a direction: "darcy_velocity_x_m_s".
  std::string key(int d = -1) const {
    return name + (d < 0 ? "" : std::string("_") + axis_names[d]) + (unit.empty() ? "" : '_' + unit);
  }
};

/// Text of a number in a CSV; nothing where there is none.
template <class T>
std::string csv_number(const char* digits, const T& x) {
  if constexpr (std::same_as<T, std::string>) return x;
  if constexpr (std::floating_point<T>)
    if (!std::isfinite(x)) return {};
  return fmt::format(fmt::runtime(std::integral<T> ? "{}" : digits), x);
}

/// Text of a number; "-" where there is none.
template <class T>
std::string text_number(const char* digits, const T& x) {
  const std::string text = csv_number(digits, x);
  return text.empty() ? "-" : text;
}

/// Calls f(number, direction) for the three entries of a vector, and for a number or a text with the direction -1.
/// Lists and matrices have no column.
template <class T, class F>
void for_columns(const T& x, F&& f) {
  if constexpr (std::is_same_v<T, Vec3>)
    for (int d = 0; d < 3; ++d) f(x[d], d);
  else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>)
    f(x, -1);
}

/// Rows of text with a value per column, which stands for an axis or a component; "-" where a column has none.
class TextRows {
 public:
  /// @param heading  of the names of the columns, in a line above; empty: they have none
  explicit TextRows(std::string heading = "") : heading_(std::move(heading)) {}
  /// @param axis  whose entry of a vector is shown
  auto column(const std::string& name, int axis = 0) {
    names_.push_back(name);
    return [this, axis](const Quantity& q, const auto& x) {
      if (q.in(shown::text))
        for_columns(x, [&](auto value, int d) {
          if (d < 0 || d == axis) add(q.label, text_number(q.text_digits, value));
        });
    };
  }
  auto column(int axis = 0) { return column("", axis); }
  /// "  label   value   value" and so on, lines of these widths.
  std::string text(int label_width, int value_width) const {
    std::string all;
    const auto line = [&](const std::string& label, const std::vector<std::string>& values) {
      all += fmt::format("  {:<{}}", label, label_width);
      for (std::size_t i = 0; i < names_.size(); ++i)
        all += fmt::format(" {:>{}}", i < values.size() && !values[i].empty() ? values[i] : "-", value_width - 1);
      all += '\n';
    };
    if (!heading_.empty()) line(heading_, names_);
    for (const auto& [label, values] : rows_) line(label, values);
    return all;
  }

 private:
  void add(const std::string& label, std::string value) {
    auto row = std::ranges::find(rows_, label, &Row::first);
    if (row == rows_.end()) row = rows_.insert(row, {label, {}});
    row->second.resize(names_.size());
    row->second.back() = std::move(value);
  }
  using Row = std::pair<std::string, std::vector<std::string>>;
  std::string heading_;
  std::vector<std::string> names_;  // of the columns
  std::vector<Row> rows_;
};

inline void add_column(std::string& line, const std::string& text) {
  if (!line.empty()) line += ',';
  line += text;
}

/// Names of the columns of a CSV.
struct CsvHead {
  std::string& line;
  std::string before{};  ///< put before each name
  void operator()(const Quantity& q, const auto& x) const {
    if (q.in(shown::csv)) for_columns(x, [&](auto, int d) { add_column(line, before + q.key(d)); });
  }
};

/// Their values.
struct CsvLine {
  std::string& line;
  void operator()(const Quantity& q, const auto& x) const {
    if (q.in(shown::csv)) for_columns(x, [&](auto value, int) { add_column(line, csv_number(q.digits, value)); });
  }
};

/// Names of the columns of a result, and the values of one.
/// @param line  columns before them
template <class... Result>
std::string csv_head(std::string line, const Result&... result) {
  each_quantity(result..., CsvHead{line});
  return line + '\n';
}
template <class... Result>
std::string csv_line(std::string line, const Result&... result) {
  each_quantity(result..., CsvLine{line});
  return line + '\n';
}

/// The same of columns from several tables.
/// @param each  hands them to readers, of which it gets one by reader(what stands before the names)
std::string csv_head_of(auto&& each) {
  std::string line;
  each([&](const std::string& before) { return CsvHead{line, before}; });
  return line + '\n';
}
std::string csv_line_of(auto&& each) {
  std::string line;
  each([&](const std::string&) { return CsvLine{line}; });
  return line + '\n';
}

/// Has a table: each_quantity(x, f).
template <class T>
concept Tabled = requires(T& x, void (&f)(const Quantity&, ...)) {
  each_quantity(x, f);
};

template <class T>
Json json_of(const T& x, unsigned where);
template <class T>
Json json_of(const std::optional<T>& x, unsigned where);
template <class T>
Json json_of(const std::vector<T>& list, unsigned where);
template <class T>
void take_value(const Json& from, T& x);
template <class T>
void take_value(const Json& from, std::optional<T>& x);
template <class T>
void take_value(const Json& from, std::vector<T>& list);

/// Members of an object.
struct ToJson {
  Json& to;
  unsigned where;  ///< which quantities
  void operator()(const Quantity& q, const auto& x) const {
    if (q.in(where)) to[q.key()] = json_of(x, where);
  }
};

/// What ToJson kept as shown::record.
struct FromRecord {
  const Json& from;
  template <class T>
  void operator()(const Quantity& q, T& x) const {
    if constexpr (!std::is_const_v<T>)
      if (q.in(shown::record)) take_value(from.at(q.key()), x);
  }
  template <class T>
  void operator()(const Quantity&, T&&) const {}  ///< what follows from others
};

/// A value, or an object with the quantities of a result.
template <class T>
Json json_of(const T& x, unsigned where) {
  if constexpr (!Tabled<const T>) {
    return Json(x);
  } else {
    Json json = Json::object();
    each_quantity(x, ToJson{json, where});
    return json;
  }
}
template <class T>
Json json_of(const std::optional<T>& x, unsigned where) {
  return x ? json_of(*x, where) : Json();
}

template <class T>
Json json_of(const std::vector<T>& list, unsigned where) {
  Json json = Json::array();
  for (const T& x : list) json.push_back(json_of(x, where));
  return json;
}

/// The inverse for shown::record. Null stands for NaN.
template <class T>
void take_value(const Json& from, T& x) {
  if constexpr (std::floating_point<T>)
    x = number_or_nan(from);
  else if constexpr (Tabled<T>)
    each_quantity(x, FromRecord{from});
  else if constexpr (std::is_same_v<T, Vec3> || std::is_same_v<T, Matrix3>)
    for (int d = 0; d < 3; ++d) take_value(from.at(d), x[d]);
  else
    x = from.get<T>();
}

template <class T>
void take_value(const Json& from, std::optional<T>& x) {
  x.reset();
  if (!from.is_null()) take_value(from, x.emplace());
}

template <class T>
void take_value(const Json& from, std::vector<T>& list) {
  list.assign(from.size(), T{});
  for (std::size_t i = 0; i < list.size(); ++i) take_value(from.at(i), list[i]);
}

/// Lists over the time: one more value of each.
struct OverTime {
  Json& lists;
  void operator()(const Quantity& q, const auto& x) const {
    if (q.in(shown::history)) lists[q.key()].push_back(json_of(x, shown::history));
  }
};

/// Lists over the time of parts beside one another, such as components: of each quantity a list per part.
/// @param each  hands part i of a line to a reader: each(line, i, reader)
template <class Line>
void add_histories(const std::vector<Line>& lines, std::size_t n_parts, Json& history, auto&& each) {
  for (std::size_t i = 0; i < n_parts; ++i) {
    Json own;
    for (const Line& line : lines) each(line, i, OverTime{own});
    for (const std::string& name : own.names()) history[name].push_back(own[name]);
  }
}

}  // namespace karst
