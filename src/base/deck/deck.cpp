// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/deck.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/units.hpp"
#include "base/deck/deck_echo.hpp"
#include "base/deck/deck_source.hpp"

namespace karst {

namespace {

struct Mistake {
  std::int64_t line;
  std::string text;
};

template <class T>
bool is_open_below(T x) {
  if constexpr (std::is_same_v<T, int>) return x == std::numeric_limits<int>::min();
  return static_cast<double>(x) <= -1e300;
}
template <class T>
bool is_open_above(T x) {
  if constexpr (std::is_same_v<T, int>) return x == std::numeric_limits<int>::max();
  return static_cast<double>(x) >= 1e300;
}

/// "0 to 1", "> 0", ">= 0", "<= 5"; empty without bounds.
template <class T>
std::string range_text(T min, T max) {
  const bool positive = !std::is_same_v<T, int> && min > T{} && static_cast<double>(min) <= 1e-200;
  std::string low = positive ? "> 0" : fmt::format(">= {}", min);
  if (is_open_below(min)) return is_open_above(max) ? "" : fmt::format("<= {}", max);
  if (is_open_above(max)) return low;
  return positive ? fmt::format("{}, <= {}", low, max) : fmt::format("{} to {}", min, max);
}

std::string range_text(const UsualRange& usual) {
  return std::isinf(usual.high) ? fmt::format(">= {:g}", usual.low)
                                : fmt::format("{:g} to {:g}", usual.low, usual.high);
}

std::string in_brackets(const std::string& unit) {
  return unit.empty() || unit == "-" ? "" : fmt::format(" [{}]", unit);
}

/// What a node holds, for messages.
std::string describe(const toml::node& node) {
  if (const auto* x = node.as_string()) {
    const std::string& text = x->get();
    return toml_text(text.size() <= 60 ? text : text.substr(0, 57) + "...");
  }
  if (const auto* x = node.as_integer()) return fmt::format("{}", x->get());
  if (const auto* x = node.as_floating_point()) return toml_text(x->get());
  if (const auto* x = node.as_boolean()) return toml_text(x->get());
  if (const auto* x = node.as_array()) {
    if (x->is_array_of_tables()) return fmt::format("a list of {} tables", x->size());
    return fmt::format("a list of {} value{}", x->size(), x->size() == 1 ? "" : "s");
  }
  return node.is_table() ? "a table" : "a date or time";
}

/// Value of a node when it has the type wanted and lies between the bounds.
template <class T>
struct Range {
  T min, max;
  bool operator()(T x) const { return x == x && x >= min && x <= max; }  // false for NaN, without a trap
};
/// Numbers of the unit of the declaration, and texts with units of the same quantity.
struct Quantity : Range<double> {
  std::string_view unit;
};
std::optional<double> take(const toml::node& node, const Quantity& range) {
  std::optional<double> x;
  if (const auto* i = node.as_integer()) x = static_cast<double>(i->get());
  if (const auto* f = node.as_floating_point()) x = f->get();
  if (const auto* text = node.as_string(); text != nullptr && is_physical(range.unit))
    if (const Measured found = measured(text->get(), range.unit); found.problem.empty()) x = found.value;
  return x && std::isfinite(*x) && range(*x) ? x : std::nullopt;
}
std::optional<int> take(const toml::node& node, const Range<int>& range) {
  const auto* i = node.as_integer();
  if (!i || i->get() < range.min || i->get() > range.max) return std::nullopt;
  return static_cast<int>(i->get());
}
template <class T>
struct Any {
  bool operator()(const T&) const { return true; }
};
std::optional<bool> take(const toml::node& node, const Any<bool>&) { return node.value_exact<bool>(); }
std::optional<std::string> take(const toml::node& node, const Any<std::string>&) {
  return node.value_exact<std::string>();
}

struct NumberOrText {
  bool operator()(const std::string&) const { return true; }
};
std::optional<std::string> take(const toml::node& node, const NumberOrText&) {
  if (const auto* x = node.as_integer()) return fmt::format("{}", x->get());
  if (const auto* x = node.as_floating_point(); x != nullptr && std::isfinite(x->get())) return toml_text(x->get());
  return node.value_exact<std::string>();
}

struct AnyValue {
  bool operator()(const std::string&) const { return true; }
};
std::optional<std::string> take(const toml::node& node, const AnyValue& any) {
  if (const auto* x = node.as_integer()) return fmt::format("{}", x->get());
  if (const auto* x = node.as_boolean()) return toml_text(x->get());
  const auto* array = node.as_array();
  if (array == nullptr) return take(node, NumberOrText{});
  std::string items;
  for (const toml::node& item : *array) {
    const auto text = take(item, any);
    if (!text) return {};
    items += (items.empty() ? "" : ", ") + (item.is_string() ? toml_text(*text) : *text);
  }
  return "[" + items + "]";
}

}  // namespace

/// What the reader of the deck and those of its list items share.
struct DeckShared {
  std::string name;
  bool documenting = false;
  toml::table root;
  std::vector<KeyInfo> keys;
  std::set<std::string> listed;        // names in keys
  std::set<std::string> known, lists;  // declared, with positions in lists; the lists of tables among them
  std::set<std::string> absent;        // given() has said no to these
  std::vector<Mistake> mistakes;
  std::vector<std::string> unusual;
  std::string options;  // table whose keys are options, with a dot at the end; empty: none
  DeckEcho echo;
  Reader::Answers answers;

  void add(const DeckPlace& place, const std::string& path, std::string_view text) {
    if (documenting) return;
    mistakes.push_back({place.command_line ? std::numeric_limits<std::int64_t>::max() : place.line,
                        fmt::format("{}: {}", at(place, path), text)});
  }
  /// "deck.toml:12: walls.mineral[0].speed"
  std::string at(const DeckPlace& place, const std::string& path) const {
    const std::string where = place.line > 0 ? fmt::format("{}:{}", name, place.line) : name;
    const bool option = place.command_line && !options.empty() && path.starts_with(options);
    const std::string key = option ? "--" + path.substr(options.size()) : path;
    return fmt::format("{}: {}", place.command_line ? command_line_name : where, key);
  }
  void check_known(const toml::table& table, const std::string& path);
  std::string advice(const std::string& path, const std::string& table) const;
};

struct Reader::State {
  std::shared_ptr<DeckShared> shared;
  const toml::table* table = nullptr;  // none when only collecting
  std::string path, doc;               // of the table: "" or ending in a dot; doc has [] for positions

  const toml::node* find(std::string_view key) const {  // "flow.drive", "geometry.solid[0].radius"
    return table == nullptr ? nullptr : table->at_path(key).node();
  }

  void declare(std::string_view key, KeyInfo info) {
    shared->known.insert(path + std::string(key));
    info.key = doc + std::string(key);
    if (shared->listed.insert(info.key).second) shared->keys.push_back(std::move(info));
  }

  /// Notes that a value is not what is wanted.
  /// @param node   the value
  /// @param place  where it stands
  void refuse(std::string_view key, const toml::node& node, const DeckPlace& place, const std::string& given,
              const KeyInfo& info) {
    const auto* text = node.as_string();
    const std::string problem =
        text != nullptr && is_physical(info.unit) ? measured(text->get(), info.unit).problem : std::string();
    if (!problem.empty()) return shared->add(place, path + std::string(key), fmt::format("{} {}", given, problem));
    refuse(key, place, given, info);
  }
  void refuse(std::string_view key, const DeckPlace& place, const std::string& given, const KeyInfo& info) {
    shared->add(place, path + std::string(key),
                fmt::format("{} given; expected: {}{}{}{}", given, info.type, info.allowed.empty() ? "" : " ",
                            info.allowed, in_brackets(info.unit)));
  }

  /// @param fits  the deck may have this value
  void record(std::string_view key, std::string value, const KeyInfo& info, bool fits = true) {
    const std::string allowed = info.type == "word" ? fmt::format(" ({})", info.allowed) : "";
    shared->echo.set(path + std::string(key), std::move(value), info.help + allowed + in_brackets(info.unit), fits);
  }

  template <class T, class Allowed>
  void scalar(std::string_view key, T& value, KeyInfo info, const Allowed& allowed) {
    if (allowed(value)) info.default_value = toml_text(value);  // else there is none
    declare(key, info);
    if (const toml::node* node = find(key)) {
      if (const auto x = take(*node, allowed)) {
        value = *x;
      } else {
        refuse(key, *node, place_of(*node), describe(*node), info);
      }
    }
    record(key, toml_text(value), info, allowed(value));
  }

  /// @param length  number of values wanted, 0 for any
  template <class T, class Allowed>
  void list(std::string_view key, std::vector<T>& value, KeyInfo info, const Allowed& allowed, std::size_t length) {
    if (std::all_of(value.begin(), value.end(), allowed)) info.default_value = toml_text(value);
    declare(key, info);
    if (const toml::node* node = find(key)) {
      const std::optional<toml::array> words =
          list_in_words(*node, length > 0, std::is_same_v<T, std::string>, info.unit);
      const toml::array* array = words ? &*words : node->as_array();
      if (array == nullptr || (length > 0 && array->size() != length)) {
        refuse(key, place_of(*node), describe(*node), info);
      } else {
        take_list(key, value, info, allowed, *array, words ? place_of(*node) : DeckPlace{});
      }
    }
    record(key, toml_text(value), info, std::all_of(value.begin(), value.end(), allowed));
  }

  /// @param words  where the text stands that holds the list, if it is none in TOML
  template <class T, class Allowed>
  void take_list(std::string_view key, std::vector<T>& value, const KeyInfo& info, const Allowed& allowed,
                 const toml::array& array, const DeckPlace& words) {
    std::vector<T> read;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (const auto x = take(array[i], allowed)) {
        read.push_back(*x);
      } else {
        const bool in_words = words.line > 0 || words.command_line;
        refuse(key, array[i], in_words ? words : place_of(array[i]),
               fmt::format("{} as value {} of {}", describe(array[i]), i + 1, array.size()), info);
      }
    }
    if (read.size() == array.size()) value = std::move(read);
  }

  /// Adds what is usual to the declaration of a key, and notes values that the deck gives and that are not.
  void doubt(std::string_view key, std::span<const double> values, std::string_view unit, const UsualRange& usual) {
    if (usual.low == 0.0 && std::isinf(usual.high)) return;
    const auto declared = std::ranges::find(shared->keys, doc + std::string(key), &KeyInfo::key);
    if (declared->allowed.find("usual: ") == std::string::npos)
      declared->allowed += fmt::format("{}usual: {}", declared->allowed.empty() ? "" : "; ", range_text(usual));
    const toml::node* node = find(key);
    if (node == nullptr || std::ranges::all_of(values, usual)) return;
    std::string given;
    for (const double x : values) given += fmt::format("{}{:g}", given.empty() ? "" : ", ", x);
    const std::string others = usual_units(unit);
    shared->unusual.push_back(fmt::format("{}: {} {}: is that the right unit? Usual values are {}{}",
                                          shared->at(place_of(*node), path + std::string(key)), given, unit,
                                          range_text(usual),
                                          others.empty() ? "" : "; the value may be a text with its unit: " + others));
  }

  /// Three values held by an array.
  template <class T, class Allowed>
  void three(std::string_view key, std::array<T, 3>& value, KeyInfo info, const Allowed& allowed) {
    std::vector<T> values(value.begin(), value.end());
    list(key, values, std::move(info), allowed, 3);
    std::copy(values.begin(), values.end(), value.begin());
  }
};

namespace {

KeyInfo info(std::string type, std::string_view unit, std::string allowed, std::string_view help) {
  return {"", std::move(type), std::string(unit), "", std::move(allowed), std::string(help)};
}

}  // namespace

Reader::Reader(std::shared_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader::~Reader() = default;

Reader Reader::from_file(const std::string& path, const std::vector<std::string>& overrides) {
  return from_text(read_deck_file(path), path, overrides);
}

Reader Reader::from_text(std::string_view toml, const std::string& name, const std::vector<std::string>& overrides) {
  auto shared = std::make_shared<DeckShared>();
  shared->name = name;
  shared->root = parse_deck(toml, name);
  for (const std::string& o : overrides) {
    const std::string problem = apply_override(shared->root, o);
    constexpr std::size_t longest = 200;  // shown
    if (!problem.empty()) shared->add({0, true}, o.size() <= longest ? o : o.substr(0, longest) + "...", problem);
  }
  const toml::table* root = &shared->root;
  return Reader(std::make_shared<State>(State{std::move(shared), root, "", ""}));
}

Reader Reader::declarations_only() {
  auto shared = std::make_shared<DeckShared>();
  shared->documenting = true;
  return Reader(std::make_shared<State>(State{std::move(shared), nullptr, "", ""}));
}

void Reader::number(std::string_view key, double& value, std::string_view unit, std::string_view help, double min,
                    double max, const UsualRange& usual) {
  state_->scalar(key, value, info("number", unit, range_text(min, max), help), Quantity{{min, max}, unit});
  state_->doubt(key, {&value, 1}, unit, usual);
}

void Reader::integer(std::string_view key, int& value, std::string_view unit, std::string_view help, int min, int max) {
  state_->scalar(key, value, info("integer", unit, range_text(min, max), help), Range<int>{min, max});
}

void Reader::flag(std::string_view key, bool& value, std::string_view help) {
  state_->scalar(key, value, info("true/false", "", "", help), Any<bool>{});
}

void Reader::text(std::string_view key, std::string& value, std::string_view help) {
  state_->scalar(key, value, info("text", "", "", help), Any<std::string>{});
}

void Reader::file(std::string_view key, std::string& value, std::string_view help) {
  const KeyInfo about = info("file name", "", "", help);
  state_->scalar(key, value, about, Any<std::string>{});
  if (value.empty() || documenting()) return;
  const auto from = std::filesystem::absolute(std::filesystem::path(directory()) / value);
  state_->record(key, toml_text(from.lexically_normal().string()), about);
}

void Reader::number_or_formula(std::string_view key, std::string& value, std::string_view unit, std::string_view help) {
  state_->scalar(key, value, info("number or formula", unit, "", help), NumberOrText{});
}

void Reader::texts(std::string_view key, std::vector<std::string>& value, std::string_view help) {
  state_->list(key, value, info("list of texts", "", "", help), Any<std::string>{}, 0);
}

void Reader::values(std::string_view key, std::vector<std::string>& value, std::string_view help) {
  state_->list(key, value, info("list of values", "", "", help), AnyValue{}, 0);
}

void Reader::numbers(std::string_view key, std::vector<double>& value, std::string_view unit, std::string_view help,
                     double min, double max) {
  state_->list(key, value, info("list of numbers", unit, range_text(min, max), help), Quantity{{min, max}, unit}, 0);
}

void Reader::vec3(std::string_view key, Vec3& value, std::string_view unit, std::string_view help, double min,
                  double max, const UsualRange& usual) {
  state_->three(key, value.v, info("list of 3 numbers", unit, range_text(min, max), help), Quantity{{min, max}, unit});
  state_->doubt(key, value.v, unit, usual);
}

void Reader::index(std::string_view key, Index& value, std::string_view unit, std::string_view help, int min, int max) {
  state_->three(key, value.v, info("list of 3 integers", unit, range_text(min, max), help), Range<int>{min, max});
}

void Reader::flags3(std::string_view key, std::array<bool, 3>& value, std::string_view help) {
  state_->three(key, value, info("list of 3 true/false", "", "", help), Any<bool>{});
}

std::size_t Reader::choose(std::string_view key,
                           const std::vector<std::pair<std::string_view, std::string_view>>& words, std::size_t now,
                           std::string_view help) {
  std::vector<std::string> names, meanings;
  for (const auto& [name, meaning] : words) {
    names.emplace_back(name);
    meanings.push_back(meaning.empty() ? names.back() : fmt::format("{} ({})", name, meaning));
  }
  KeyInfo about = info("word", "", join(meanings, " | "), help);
  about.default_value = toml_text(names[now]);
  state_->declare(key, about);
  about.allowed = join(names, " | ");
  if (const toml::node* node = state_->find(key)) {
    const auto word = node->value_exact<std::string>();
    const auto found = word ? std::find(names.begin(), names.end(), *word) : names.end();
    if (found != names.end()) {
      now = found - names.begin();
    } else {
      state_->shared->add(place_of(*node), state_->path + std::string(key),
                          fmt::format("{} given; expected one of: {}{}", describe(*node), about.allowed,
                                      word ? or_rather(*word, names) : ""));
    }
  }
  state_->record(key, toml_text(names[now]), about);
  return now;
}

void Reader::tables(std::string_view key, std::string_view help, const std::function<void(Reader& item)>& read) {
  const std::string path = state_->path + std::string(key), doc = state_->doc + std::string(key) + "[].";
  const std::shared_ptr<DeckShared>& shared = state_->shared;
  state_->declare(key, info("list of tables", "", "", help));
  shared->lists.insert(path);
  if (shared->documenting) {
    Reader item(std::make_shared<State>(State{shared, nullptr, path + "[].", doc}));
    read(item);
  }
  const toml::node* node = state_->find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    shared->add(place_of(*node), path,
                fmt::format("{} given; expected: list of tables, each under [[{}]]", describe(*node), key));
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string item_path = fmt::format("{}[{}]", path, i);
    const toml::table* table = array->get(i)->as_table();
    if (table == nullptr) {
      shared->add(place_of(*array->get(i)), item_path,
                  fmt::format("{} given; expected: a table", describe((*array)[i])));
      continue;
    }
    shared->echo.item(item_path);
    Reader item(std::make_shared<State>(State{shared, table, item_path + ".", doc}));
    read(item);
  }
}

void Reader::name_options(std::string_view table) { state_->shared->options = table; }

void Reader::changes_answers_of(std::string_view name, std::initializer_list<const char*> jobs) {
  state_->shared->answers[std::string(name)].insert(jobs.begin(), jobs.end());
}

const Reader::Answers& Reader::answers() const { return state_->shared->answers; }

bool Reader::given(std::string_view key) const {
  const bool found = state_->find(key) != nullptr;
  if (!found) state_->shared->absent.insert(state_->path + std::string(key));
  return found;
}

bool Reader::documenting() const { return state_->shared->documenting; }

std::string Reader::directory() const {
  const std::filesystem::path folder = std::filesystem::path(state_->shared->name).parent_path();
  return folder.empty() ? "." : folder.string();
}

void Reader::mistake(std::string_view key, std::string_view text) {
  const toml::node* node = state_->find(key);
  DeckPlace place;
  if (node != nullptr) {
    place = place_of(*node);
  } else if (const std::size_t item = key.rfind(']'); item != std::string_view::npos) {
    const toml::node* table = state_->find(key.substr(0, item + 1));
    if (table != nullptr) place = place_of(*table);
  } else if (state_->table != nullptr && !state_->path.empty()) {
    place = place_of(*state_->table);
  }
  state_->shared->add(place, state_->path + std::string(key), text);
}

bool Reader::wrong(std::string_view key) const {
  const std::string about = state_->path + std::string(key) + ": ";
  return std::ranges::any_of(state_->shared->mistakes,
                             [&](const Mistake& m) { return m.text.find(about) != std::string::npos; });
}

void Reader::refuse(std::initializer_list<const char*> keys, std::string_view text) {
  for (const char* key : keys)
    if (given(key)) mistake(key, text);
}

void Reader::need(std::initializer_list<const char*> keys, std::string_view text) {
  for (const char* key : keys)
    if (!given(key)) mistake(key, text);
}

bool Reader::attempt(std::string_view key, const std::function<void()>& call) try {
  call();
  return true;
} catch (const Error& e) {
  mistake(key, e.what());
  return false;
}

std::string DeckShared::advice(const std::string& path, const std::string& table) const {
  std::vector<std::string> siblings;
  const std::string word = path.substr(table.size());
  for (const std::string& k : known) {
    if (!k.starts_with(table)) continue;
    const std::string rest = k.substr(table.size());
    const std::string first = rest.substr(0, rest.find_first_of(".["));
    if (siblings.empty() || siblings.back() != first) siblings.push_back(first);
  }
  std::string near = nearest(word, siblings);
  if (!near.empty()) near = table + near;
  for (const std::string& k : known) {
    if (near.empty() && k.ends_with("." + word)) near = k;  // right key, wrong table
  }
  if (!near.empty()) return fmt::format("did you mean {}?", near);
  return siblings.empty() ? "no key is allowed here" : fmt::format("allowed here: {}", join(siblings));
}

void DeckShared::check_known(const toml::table& table, const std::string& path) {
  for (const auto& [key, node] : table) {
    const std::string full = path + std::string(key.str());
    const auto below = known.lower_bound(full + ".");
    if (known.contains(full)) {
      const toml::array* items = lists.contains(full) ? node.as_array() : nullptr;
      for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        if (const toml::table* item = (*items)[i].as_table()) check_known(*item, fmt::format("{}[{}].", full, i));
      }
    } else if (below != known.end() && below->starts_with(full + ".")) {
      if (const toml::table* inner = node.as_table()) {
        check_known(*inner, full + ".");
      } else {
        add(place_of(node), full, fmt::format("{} given; expected: a table [{}]", describe(node), full));
      }
    } else {
      DeckPlace place = place_of(node);
      if (place.line == 0) place.line = key.source().begin.line;
      add(place, full, fmt::format("unknown {}; {}", node.is_table() ? "table" : "key", advice(full, path)));
    }
  }
}

void Reader::finish() {
  assert(state_->path.empty() && "finish() belongs to the reader of the whole deck");
  DeckShared& shared = *state_->shared;
  if (shared.documenting) return;
  shared.check_known(shared.root, "");
  std::stable_sort(shared.mistakes.begin(), shared.mistakes.end(),
                   [](const Mistake& a, const Mistake& b) { return a.line < b.line; });
  std::vector<std::string> lines;
  for (const Mistake& m : shared.mistakes) lines.push_back(m.text);
  if (!lines.empty()) throw Error(join(lines, "\n"));
}

const std::vector<std::string>& Reader::unusual() const { return state_->shared->unusual; }
const std::vector<KeyInfo>& Reader::keys() const { return state_->shared->keys; }
std::string Reader::echo() const { return state_->shared->echo.text(state_->shared->absent); }

}  // namespace karst
