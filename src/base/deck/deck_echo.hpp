// SPDX-License-Identifier: BSD-3-Clause
// The complete deck as TOML: values in order of declaration, as a tree of tables. Used by Reader::echo(); the texts
// of values by whoever writes TOML.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// Values as TOML reads them back, digit for digit.
std::string toml_text(double x);
std::string toml_text(int x);
std::string toml_text(bool x);
std::string toml_text(const std::string& x);
template <class T>
std::string toml_text(const std::vector<T>& list) {
  std::string text;
  for (const auto& x : list) text += (text.empty() ? "[" : ", ") + toml_text(static_cast<T>(x));
  return text.empty() ? "[]" : text + "]";
}
template <class T>
std::string toml_text(const std::array<T, 3>& v) {
  return toml_text(std::vector<T>(v.begin(), v.end()));
}
template <class T>
std::string toml_text(const Triple<T>& x) {
  return toml_text(x.v);
}

class DeckEcho {
 public:
  DeckEcho();
  DeckEcho(DeckEcho&&) noexcept;
  ~DeckEcho();
  /// @param path     full name with positions in lists, e.g. geometry.solid[2].radius
  /// @param comment  one line
  /// @param live     false: write the line as a comment (no value that the deck may have)
  void set(std::string_view path, std::string value, std::string comment, bool live);
  /// A table of a list, e.g. geometry.solid[2]; it appears even when it stays empty.
  void item(std::string_view path);
  /// @param absent  keys and tables that must not be there when the text is read back: written as comments
  std::string text(const std::set<std::string>& absent) const;

 private:
  struct Table;
  Table& table(std::string_view path);
  std::unique_ptr<Table> root_;
};

}  // namespace karst
