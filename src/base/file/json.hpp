// SPDX-License-Identifier: BSD-3-Clause
// JSON values: machine-readable results of a run (summary.json, records of solves) are built from these values,
// written, and read again. Parsing and formatting of the text are done by nlohmann/json, which only json.cpp includes,
// because it adds seconds to the compilation of a file (docs/decisions/037-json-behind-one-file.md).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/core/error.hpp"
#include "base/math/triple.hpp"

namespace karst {

/// Invalid JSON text, or a value that is missing or of another type than requested.
class JsonError : public Error {
 public:
  using Error::Error;
};

class Json;

namespace detail {
template <class T>
inline constexpr bool is_json_array = false;
template <class T>
inline constexpr bool is_json_array<std::vector<T>> = true;
template <class T, std::size_t n>
inline constexpr bool is_json_array<std::array<T, n>> = true;
using TextByName = std::map<std::string, std::string>;
}  // namespace detail

/// What a value can be read as.
template <class T>
concept JsonReadable = (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) || std::is_same_v<T, std::string> ||
                       std::is_same_v<T, detail::TextByName> || detail::is_json_array<T>;

/// Null, a boolean, a number (integer or not), a string, an array or an object, whose members keep their order.
/// `Json{{"axis", "x"}, {"cells", n}}`, pairs that begin with a string, is an object; `Json{a, b, c}` is an array.
class Json {
 public:
  enum class Kind : std::uint8_t { null, truth, whole, number, text, array, object };

  Json(std::nullptr_t = nullptr) noexcept;
  Json(bool truth) noexcept;
  Json(std::int64_t whole) noexcept;
  Json(double number) noexcept;  ///< NaN and infinity, which JSON has not, are null
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(const detail::TextByName& members);
  Json(std::initializer_list<Json> items);
  template <std::integral T>
  Json(T whole) noexcept : Json(static_cast<std::int64_t>(whole)) {}
  template <class T>
  Json(const std::vector<T>& items) : Json(array()) {
    for (const T& item : items) push_back(Json(item));
  }
  template <class T>
  Json(const Triple<T>& entries) : Json(entries.v) {}
  template <class T, std::size_t n>
  Json(const std::array<T, n>& items) : Json(array()) {
    for (const T& item : items) push_back(Json(item));
  }
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();
  static Json array(std::initializer_list<Json> items = {});
  static Json object();

  bool is_null() const { return kind_ == Kind::null; }
  bool is_number() const { return kind_ == Kind::whole || kind_ == Kind::number; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  std::size_t size() const;  ///< of an array or object; otherwise 0
  bool empty() const { return size() == 0; }
  /// Items of an array, or values of an object's members, in their order.
  const Json* begin() const;
  const Json* end() const { return begin() + size(); }

  // Building: null is converted to the type that the call needs.
  Json& operator[](std::string_view key);  ///< the member; null at first
  /// Else "name"[json as a place] is as near, to clang.
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  template <std::integral T>
  Json& operator[](T place) {
    return const_cast<Json&>(std::as_const(*this)[place]);
  }
  Json& push_back(Json item);        ///< the item
  void update(const Json& members);  ///< those that are there already get the new value
  Json& back();

  // Reading; all throw JsonError.
  const std::vector<std::string>& names() const;  ///< of an object's members
  bool contains(std::string_view key) const;
  const Json& at(std::string_view key) const;
  const Json& at(std::size_t place) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  const Json& operator[](const char* key) const { return at(key); }
  template <std::integral T>
  const Json& operator[](T place) const {
    return at(place);
  }
  const Json& back() const;
  template <JsonReadable T>
  T get() const {
    if constexpr (std::is_same_v<T, bool>) {
      return truth();
    } else if constexpr (std::is_integral_v<T>) {
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      return static_cast<T>(whole(std::is_signed_v<T> ? static_cast<std::int64_t>(std::numeric_limits<T>::min()) : 0,
                                  most > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(most)));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::is_same_v<T, std::string>) {
      return text();
    } else if constexpr (std::is_same_v<T, detail::TextByName>) {
      return text_by_name();
    } else {
      return items<T>();
    }
  }
  template <JsonReadable T>
  operator T() const {
    return get<T>();
  }
  /// The member, or another value where there is none.
  template <class T>
  T value(std::string_view key, const T& otherwise) const {
    return contains(key) ? static_cast<T>(at(key)) : otherwise;
  }
  std::string value(std::string_view key, const char* otherwise) const;
  /// Whether it is this text.
  friend bool operator==(const Json& json, std::string_view text) { return json.is_text() && json.text() == text; }

  /// The text: on one line, or with each member on a separate line, indented by this number of blanks per level.
  /// Invalid UTF-8 becomes U+FFFD.
  std::string dump(int indent = -1) const;
  /// JsonError also for values inside of each other more than 200 deep.
  static Json parse(std::string_view text);
  /// Null where the text is no JSON.
  static Json parse_or_null(std::string_view text);
  /// The same of a file; null where it is no plain file, too.
  static Json of_file(const std::string& path);

 private:
  struct Held;
  void hold(Kind kind);
  void need(Kind kind) const;
  bool truth() const;
  /// JsonError if it is not an integer in [low, high].
  std::int64_t whole(std::int64_t low, std::int64_t high) const;
  double number() const;
  const std::string& text() const;
  detail::TextByName text_by_name() const;
  void need_items(std::size_t n) const;
  template <class T>
  T items() const {
    need(Kind::array);
    T all{};
    if constexpr (requires { all.push_back(all[0]); }) {
      for (const Json& item : *this) all.push_back(item.get<typename T::value_type>());
    } else {
      need_items(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = begin()[i].get<typename T::value_type>();
    }
    return all;
  }

  Kind kind_ = Kind::null;
  std::int64_t whole_ = 0;  ///< 0 or 1: a truth value
  double number_ = 0.0;
  std::unique_ptr<Held> held_;  ///< of texts, arrays and objects
};

/// NaN for null, which represents it.
double number_or_nan(const Json& x);

/// Names that occur twice in one object of a text (parse() keeps the last value), each after those of the enclosing
/// objects; names of arrays are empty. None if the text is not valid JSON.
std::vector<std::vector<std::string>> names_given_twice(std::string_view text);

}  // namespace karst
