// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file/plain_file.hpp"
#include "base/math/no_number.hpp"

namespace karst {

using Library = nlohmann::ordered_json;

/// The text; the items of an array; the values of an object, with their names.
struct Json::Held {
  std::string text;
  std::vector<Json> items;
  std::vector<std::string> names;

  static Library to_library(const Json& json);
};

namespace {

constexpr std::array<const char*, 7> kind_names{"null",   "a truth value", "a whole number", "a number",
                                                "a text", "an array",      "an object"};

const char* name_of(Json::Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

constexpr int most_depth = 200;

/// Of arrays and objects inside of each other; those in texts do not count.
int deepest(std::string_view text) {
  int depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

Json from_library(const Library& value) {
  if (value.is_boolean()) return value.get<bool>();
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (value.is_number_integer() && !too_large) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get_ref<const std::string&>();
  Json json;
  if (value.is_array()) {
    json = Json::array();
    for (const Library& item : value) json.push_back(from_library(item));
  }
  if (value.is_object()) {
    json = Json::object();
    for (auto member = value.begin(); member != value.end(); ++member) json[member.key()] = from_library(*member);
  }
  return json;
}

}  // namespace

Json::Json(std::nullptr_t) noexcept {}
Json::Json(bool truth) noexcept : kind_(Kind::truth), whole_(truth ? 1 : 0) {}
Json::Json(std::int64_t whole) noexcept : kind_(Kind::whole), whole_(whole) {}
Json::Json(double number) noexcept {
  if (!std::isfinite(number)) return;
  kind_ = Kind::number;
  number_ = number;
}
Json::Json(const char* text) : Json(std::string(text)) {}
Json::Json(std::string_view text) : Json(std::string(text)) {}
Json::Json(std::string text) {
  hold(Kind::text);
  held_->text = std::move(text);
}
Json::Json(const detail::TextByName& members) : Json(object()) {
  for (const auto& [name, text] : members) (*this)[name] = text;
}
Json::Json(std::initializer_list<Json> items) {
  const bool members = std::ranges::all_of(items, [](const Json& item) {
    return item.kind_ == Kind::array && item.size() == 2 && item.begin()->kind_ == Kind::text;
  });
  hold(members ? Kind::object : Kind::array);
  for (const Json& item : items) {
    if (members)
      (*this)[item.begin()->text()] = item.begin()[1];
    else
      push_back(item);
  }
}
Json::Json(const Json& other)
    : kind_(other.kind_),
      whole_(other.whole_),
      number_(other.number_),
      held_(other.held_ ? std::make_unique<Held>(*other.held_) : nullptr) {}
Json::Json(Json&& other) noexcept
    : kind_(std::exchange(other.kind_, Kind::null)),
      whole_(other.whole_),
      number_(other.number_),
      held_(std::move(other.held_)) {}
Json& Json::operator=(Json other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(whole_, other.whole_);
  std::swap(number_, other.number_);
  std::swap(held_, other.held_);
  return *this;
}
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> items) {
  Json json;
  json.hold(Kind::array);
  json.held_->items = items;
  return json;
}
Json Json::object() {
  Json json;
  json.hold(Kind::object);
  return json;
}

/// Null becomes of this kind; another kind must be it.
void Json::hold(Kind kind) {
  if (is_null()) {
    kind_ = kind;
    held_ = std::make_unique<Held>();
  }
  need(kind);
}
void Json::need(Kind kind) const {
  if (kind_ != kind) throw JsonError(fmt::format("{} instead of {}", name_of(kind_), name_of(kind)));
}
void Json::need_items(std::size_t n) const {
  if (size() != n) throw JsonError(fmt::format("an array of {} instead of {}", size(), n));
}

std::size_t Json::size() const { return held_ ? held_->items.size() : 0; }
const Json* Json::begin() const { return held_ ? held_->items.data() : nullptr; }

Json& Json::operator[](std::string_view key) {
  hold(Kind::object);
  const auto at = std::ranges::find(held_->names, key);
  if (at != held_->names.end()) return held_->items[at - held_->names.begin()];
  held_->names.emplace_back(key);
  return held_->items.emplace_back();
}
Json& Json::push_back(Json item) {
  hold(Kind::array);
  return held_->items.emplace_back(std::move(item));
}
void Json::update(const Json& members) {
  members.need(Kind::object);
  for (std::size_t i = 0; i < members.size(); ++i) (*this)[members.held_->names[i]] = members.held_->items[i];
}
Json& Json::back() { return const_cast<Json&>(std::as_const(*this).back()); }
const Json& Json::back() const { return at(size() - 1); }

const std::vector<std::string>& Json::names() const {
  need(Kind::object);
  return held_->names;
}
bool Json::contains(std::string_view key) const {
  return kind_ == Kind::object && std::ranges::find(held_->names, key) != held_->names.end();
}
const Json& Json::at(std::string_view key) const {
  need(Kind::object);
  const auto at = std::ranges::find(held_->names, key);
  if (at == held_->names.end()) throw JsonError(fmt::format("no member \"{}\"", key));
  return held_->items[at - held_->names.begin()];
}
const Json& Json::at(std::size_t place) const {
  need(Kind::array);
  if (place >= size()) throw JsonError(fmt::format("item {} of an array of {}", place, size()));
  return held_->items[place];
}
std::string Json::value(std::string_view key, const char* otherwise) const {
  return contains(key) ? at(key).text() : otherwise;
}

bool Json::truth() const {
  need(Kind::truth);
  return whole_ != 0;
}
std::int64_t Json::whole(std::int64_t low, std::int64_t high) const {
  constexpr double most = 9e18;  // all whole numbers below have 64 bits
  const bool is_whole = kind_ == Kind::number && std::abs(number_) < most && number_ == std::trunc(number_);
  if (!is_whole) need(Kind::whole);
  const std::int64_t value = is_whole ? static_cast<std::int64_t>(number_) : whole_;
  if (value < low || value > high) throw JsonError(fmt::format("{}, allowed {} to {}", value, low, high));
  return value;
}
double Json::number() const {
  if (kind_ == Kind::whole) return static_cast<double>(whole_);
  need(Kind::number);
  return number_;
}
const std::string& Json::text() const {
  need(Kind::text);
  return held_->text;
}
detail::TextByName Json::text_by_name() const {
  need(Kind::object);
  detail::TextByName all;
  for (std::size_t i = 0; i < size(); ++i) all[held_->names[i]] = held_->items[i].text();
  return all;
}

Library Json::Held::to_library(const Json& json) {
  switch (json.kind_) {
    case Kind::null:
      return nullptr;
    case Kind::truth:
      return json.whole_ != 0;
    case Kind::whole:
      return json.whole_;
    case Kind::number:
      return json.number_;
    case Kind::text:
      return json.held_->text;
    case Kind::array: {
      Library all = Library::array();
      for (const Json& item : json) all.push_back(to_library(item));
      return all;
    }
    case Kind::object:
      break;
  }
  Library all = Library::object();
  for (std::size_t i = 0; i < json.size(); ++i) all[json.held_->names[i]] = to_library(json.held_->items[i]);
  return all;
}

std::string Json::dump(int indent) const {
  return Held::to_library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}
Json Json::parse(std::string_view text) {
  if (const int depth = deepest(text); depth > most_depth)
    throw JsonError(fmt::format("values nested {} deep, allowed {}", depth, most_depth));
  try {
    return from_library(Library::parse(text));
  } catch (const Library::exception& e) {
    throw JsonError(e.what());
  }
}
Json Json::parse_or_null(std::string_view text) {
  if (deepest(text) > most_depth) return {};
  const Library value = Library::parse(text, nullptr, false);
  return value.is_discarded() ? Json() : from_library(value);
}

Json Json::of_file(const std::string& path) { return parse_or_null(plain_text(path).value_or("")); }

std::vector<std::vector<std::string>> names_given_twice(std::string_view text) {
  using Event = Library::parse_event_t;
  std::vector<std::string> path;                // of the name that is read
  std::vector<std::set<std::string>> names(1);  // met so far in each object around it
  std::vector<std::vector<std::string>> twice;
  const auto look = [&](int level, Event event, const Library& parsed) {
    if (event == Event::array_start) path.resize(level), path.emplace_back();
    if (event == Event::object_start) names.resize(level + 1), names.emplace_back();
    if (event != Event::key) return true;
    path.resize(level - 1);
    path.push_back(parsed.get<std::string>());
    if (!names.at(level).insert(path.back()).second) twice.push_back(path);
    return true;
  };
  const bool is_json = !Library::parse(text, look, false).is_discarded();
  return is_json ? twice : decltype(twice){};
}

double number_or_nan(const Json& x) { return x.is_null() ? no_number : x.get<double>(); }

}  // namespace karst
