// SPDX-License-Identifier: BSD-3-Clause
// Small helpers for messages.
#pragma once

#include <fmt/core.h>

#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/error.hpp"

namespace karst {

/// Sentences for the user: mistakes, warnings.
struct Messages : std::vector<std::string> {
  Messages(std::vector<std::string> messages = {}) : vector(std::move(messages)) {}
  /// The formatted text.
  template <class... A>
  void add(fmt::format_string<A...> text, A&&... a) {
    push_back(fmt::format(text, std::forward<A>(a)...));
  }
  /// All of these.
  void add(std::vector<std::string> others) {
    insert(end(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
  }
  /// The formatted text, unless ok.
  template <class... A>
  void need(bool ok, fmt::format_string<A...> text, A&&... a) {
    if (!ok) add(text, std::forward<A>(a)...);
  }
  /// The Error that a call throws.
  /// @param before  put before its text
  void attempt(auto&& call, const std::string& before = "") try { call(); } catch (const Error& e) {
    push_back(before + e.what());
  }
  /// Throws Error with all, one per line, if there are any: mistakes are told together.
  void finish() const;
};

/// Number of letters to insert, remove, change or swap with the next to make b from a (Levenshtein distance with
/// swaps).
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to the word (the first of equals) when it is near enough to be a misspelling (of
/// words up to 3 letters one letter, of others a third, at least 2, may differ); empty when there is none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean "x"?)" and "; did you mean x?" for the nearest candidate; empty when there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
std::string or_rather(std::string_view word, std::span<const std::string> candidates);

/// Pieces between the separators; one empty piece for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};

}  // namespace karst
