// SPDX-License-Identifier: BSD-3-Clause
// Input deck: TOML, every key declared once. A declaration holds name, default, unit, range or choices
// and help; reading, checking, `karst help KEY`, the echo of the complete deck and docs/inputs.md come from it.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// What one declaration says; collected in order of declaration.
struct KeyInfo {
  std::string key;   ///< full name, e.g. grid.box, geometry.solid[].radius
  std::string type;  ///< number, integer, true/false, text, word, list of 3 numbers, list of tables ...
  std::string unit, default_value, allowed, help;
};

/// Where the values of a quantity usually lie, whatever the sample: one outside is allowed, but has another unit, most
/// likely. 0 stands for "none" and is never unusual.
struct UsualRange {
  double low = 0.0, high = std::numeric_limits<double>::infinity();
  bool operator()(double x) const { return x == 0.0 || (std::abs(x) >= low && std::abs(x) <= high); }
};

/// Several lines on one key for the terminal.
std::string help_text(const KeyInfo& key);
/// The keys as Markdown, one table of cells per table of the deck, in order of declaration.
std::string markdown_table(const std::vector<KeyInfo>& keys);

/// Reads a deck, or (without one) only collects the declarations. Mistakes are collected, with line numbers and the
/// nearest valid key, and thrown together by finish(). Tables of a list are named by their position from 0:
/// geometry.solid[2].radius, in messages and in overrides. Not collective: under MPI every rank reads the same text.
class Reader {
 public:
  /// From a file plus command-line overrides `key=value` (value in TOML; a bare word counts as a string; the last of
  /// several for one key wins). Throws Error when the file cannot be read or is no TOML (path, line).
  static Reader from_file(const std::string& path, const std::vector<std::string>& overrides = {});
  static Reader from_text(std::string_view toml, const std::string& name = "deck",
                          const std::vector<std::string>& overrides = {});
  /// No deck: all keys keep their defaults; for documentation.
  static Reader declarations_only();
  Reader(Reader&&) noexcept;
  ~Reader();

  // Each declares a key and, when the deck gives it, sets the value; a value that is not allowed is noted as a mistake
  // and leaves the default. Numbers with a physical unit may be texts with another one of the same quantity ("5.3 um",
  // see base/core/units.hpp), lists of three numbers "64x64x64"; on the command line lists need no brackets and quotes
  // ("x,y"). Bounds are inclusive; infinite ones (or +-1e300, INT_MIN, INT_MAX) mean none. Not-a-number
  // and infinity are never allowed. Keys are dotted names of bare TOML words.
  void number(std::string_view key, double& value, std::string_view unit, std::string_view help, double min, double max,
              const UsualRange& usual = {});
  void integer(std::string_view key, int& value, std::string_view unit, std::string_view help, int min, int max);
  void flag(std::string_view key, bool& value, std::string_view help);
  void text(std::string_view key, std::string& value, std::string_view help);
  /// A file name relative to the deck. The echo contains the absolute path, so that it is valid in any folder.
  void file(std::string_view key, std::string& value, std::string_view help);
  /// A number, or a text that the caller takes as a formula; the value is the text.
  void number_or_formula(std::string_view key, std::string& value, std::string_view unit, std::string_view help);
  void texts(std::string_view key, std::vector<std::string>& value, std::string_view help);
  /// Values of any kind, also lists: each as TOML, texts without quotes.
  void values(std::string_view key, std::vector<std::string>& value, std::string_view help);
  void numbers(std::string_view key, std::vector<double>& value, std::string_view unit, std::string_view help,
               double min, double max);
  void vec3(std::string_view key, Vec3& value, std::string_view unit, std::string_view help, double min, double max,
            const UsualRange& usual = {});
  void index(std::string_view key, Index& value, std::string_view unit, std::string_view help, int min, int max);
  void flags3(std::string_view key, std::array<bool, 3>& value, std::string_view help);
  /// Words for choices: {word, value, what it means}.
  template <class E>
  struct Word {
    std::string_view word;
    E value;
    std::string_view help;
  };
  template <class E>
  void word(std::string_view key, E& value, const std::vector<Word<E>>& words, std::string_view help);
  /// [[key]]: calls read(item) for every table of the list; inside, keys are relative to the item. Without a deck
  /// read is called once to collect the declarations.
  void tables(std::string_view key, std::string_view help, const std::function<void(Reader& item)>& read);

  /// Keys below this table ("geometry.import.") have options of the same name: messages about options given on the
  /// command line say "--voxel".
  void name_options(std::string_view table);

  /// Says that answers of these jobs alone change with a key ("flow.axes"), or with a table and all below it ("flow");
  /// with none: of no job. Whole names; the longest counts. Answers of all jobs change with what nothing is said of.
  void changes_answers_of(std::string_view name, std::initializer_list<const char*> jobs);
  using Answers = std::map<std::string, std::set<std::string>>;
  const Answers& answers() const;

  bool given(std::string_view key) const;  ///< the deck has this key
  bool documenting() const;                ///< made by declarations_only()
  std::string directory() const;           ///< of the deck, for file names relative to it
  /// Notes a mistake found by the caller about a key (with its line when given in the deck). Nothing without a deck:
  /// checks need not ask documenting().
  void mistake(std::string_view key, std::string_view text);
  /// The same with the formatted text.
  template <class... A>
  requires(sizeof...(A) > 0) void mistake(std::string_view key, fmt::format_string<A...> text, A&&... a) {
    mistake(key, std::string_view(fmt::format(text, std::forward<A>(a)...)));
  }
  /// Whether one has been noted about the value that the deck gives.
  bool wrong(std::string_view key) const;
  /// The same about each of these keys that the deck gives, and about each that it does not give.
  void refuse(std::initializer_list<const char*> keys, std::string_view text);
  void need(std::initializer_list<const char*> keys, std::string_view text);
  /// Notes as a mistake about a key the Error that a call throws. Whether it throws none.
  bool attempt(std::string_view key, const std::function<void()>& call);
  /// Checks for unknown keys and throws Error with every mistake, one per line. Call last.
  void finish();

  /// Values of the deck that are allowed but unusual, a sentence each, with key, line and what is usual.
  const std::vector<std::string>& unusual() const;

  const std::vector<KeyInfo>& keys() const;
  /// The complete deck as used, defaults included, as TOML with units and help as comments. Reading it gives the same
  /// values and the same results of given(): missing keys that were queried by given(), and defaults outside of the
  /// bounds ("not set"), are comments.
  std::string echo() const;

 private:
  struct State;
  explicit Reader(std::shared_ptr<State>);
  /// Position of the word the deck gives, or now.
  std::size_t choose(std::string_view key, const std::vector<std::pair<std::string_view, std::string_view>>& words,
                     std::size_t now, std::string_view help);
  std::shared_ptr<State> state_;
};

template <class E>
void Reader::word(std::string_view key, E& value, const std::vector<Word<E>>& words, std::string_view help) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  std::size_t now = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    names.emplace_back(words[w].word, words[w].help);
    if (words[w].value == value) now = w;
  }
  value = words[choose(key, names, now, help)].value;
}

}  // namespace karst
