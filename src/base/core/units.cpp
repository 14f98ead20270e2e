// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace karst {

namespace {

/// Powers of metre, kilogram, second and mole.
using Dimension = std::array<int, 4>;

/// A unit in SI units: factor x 10^exponent. Decimal units have the factor 1, so that no digit is lost.
struct Unit {
  Dimension dimension{};
  double factor = 1.0;
  int exponent = 0;
};

struct NamedUnit {
  std::string_view name;
  Unit unit;
  bool prefixes;
};
constexpr Dimension none{0, 0, 0}, length{1, 0, 0}, volume{3, 0, 0}, mass{0, 1, 0}, duration{0, 0, 1},
    pressure{-1, 1, -2}, viscosity{-1, 1, -1}, amount{0, 0, 0, 1};
/// psi: pound-force per square inch, 4.4482216152605 N / (25.4 mm)².
constexpr std::array<NamedUnit, 16> named_units{{{"m", {length, 1.0, 0}, true},
                                                 {"g", {mass, 1.0, -3}, true},
                                                 {"s", {duration, 1.0, 0}, true},
                                                 {"min", {duration, 60.0, 0}, false},
                                                 {"h", {duration, 3600.0, 0}, false},
                                                 {"d", {duration, 86400.0, 0}, false},
                                                 {"l", {volume, 1.0, -3}, true},
                                                 {"L", {volume, 1.0, -3}, true},
                                                 {"N", {{1, 1, -2}, 1.0, 0}, true},
                                                 {"Pa", {pressure, 1.0, 0}, true},
                                                 {"bar", {pressure, 1.0, 5}, true},
                                                 {"atm", {pressure, 101325.0, 0}, false},
                                                 {"psi", {pressure, 6894.757293168361, 0}, false},
                                                 {"P", {viscosity, 1.0, -1}, true},
                                                 {"mol", {amount, 1.0, 0}, true},
                                                 {"1", {none, 1.0, 0}, false}}};

struct Prefix {
  std::string_view name;
  int exponent;
};
constexpr std::array<Prefix, 10> prefixes{{{"n", -9},
                                           {"u", -6},
                                           {"\u00b5", -6},  // micro sign
                                           {"\u03bc", -6},  // Greek letter mu
                                           {"m", -3},
                                           {"c", -2},
                                           {"d", -1},
                                           {"k", 3},
                                           {"M", 6},
                                           {"G", 9}}};

/// Temperatures, which begin at other values, too. Keys are declared in the first one.
struct TemperatureUnit {
  std::string_view name;
  double zero;  ///< [°C]
};
constexpr std::array<TemperatureUnit, 4> temperatures{{{"\u00b0C", 0.0}, {"C", 0.0}, {"degC", 0.0}, {"K", -273.15}}};

bool is_temperature(std::string_view unit) { return unit == temperatures.front().name; }

/// What people write for a declared unit.
struct Usual {
  std::string_view declared, others;
};
constexpr std::array<Usual, 11> usual{{{"m", "m, cm, mm, um (or µm), nm"},
                                       {"s", "s, ms, min, h, d"},
                                       {"Pa", "Pa, kPa, MPa, mbar, bar, atm, psi"},
                                       {"Pa/m", "Pa/m, kPa/m, bar/cm"},
                                       {"Pa s", "Pa s, mPa s, cP"},
                                       {"kg/m3", "kg/m3, g/cm3"},
                                       {"m/s", "m/s, mm/s, um/s, cm/h, m/d"},
                                       {"m2/s", "m2/s, cm2/s, um2/s"},
                                       {"m3/s", "m3/s, ml/min, ul/min, cm3/h"},
                                       {"m3/mol", "m3/mol, cm3/mol, l/mol"},
                                       {"\u00b0C", "\u00b0C, C, K"}}};

std::optional<Unit> unit_named(std::string_view name) {
  for (const NamedUnit& u : named_units)
    if (u.name == name) return u.unit;
  for (const Prefix& p : prefixes) {
    if (!name.starts_with(p.name)) continue;
    for (const NamedUnit& u : named_units)
      if (u.prefixes && u.name == name.substr(p.name.size()))
        return Unit{u.unit.dimension, u.unit.factor, u.unit.exponent + p.exponent};
  }
  return {};
}

void multiply(Unit& product, const Unit& by, int power) {
  for (std::size_t d = 0; d < product.dimension.size(); ++d) product.dimension[d] += power * by.dimension[d];
  product.factor *= std::pow(by.factor, power);
  product.exponent += power * by.exponent;
}

/// Takes a power from the end of a unit: "m3", "m^3", "s^-1", "m²"; 1 where none stands.
int take_power(std::string_view& name) {
  constexpr std::array<std::pair<std::string_view, int>, 2> raised{{{"\u00b2", 2}, {"\u00b3", 3}}};
  for (const auto& [sign, power] : raised)
    if (name.size() > sign.size() && name.ends_with(sign)) {
      name.remove_suffix(sign.size());
      return power;
    }
  if (name.size() < 2 || name.back() < '1' || name.back() > '9') return 1;
  int power = name.back() - '0';
  name.remove_suffix(1);
  if (name.ends_with('-')) {
    power = -power;
    name.remove_suffix(1);
  }
  if (name.ends_with('^')) name.remove_suffix(1);
  return power;
}

/// "kg/m3": factors stand side by side or with * between them; / goes with the one that follows it.
std::optional<Unit> unit_of(std::string_view text) {
  Unit product;
  int sign = 1;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '*') {
      ++at;
      continue;
    }
    if (text[at] == '/') {
      if (sign < 0 || !any) return {};
      sign = -1;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" */", at), text.size());
    std::string_view name = text.substr(at, end - at);
    const int power = take_power(name);
    const std::optional<Unit> unit = unit_named(name);
    if (!unit) return {};
    multiply(product, *unit, sign * power);
    sign = 1;
    any = true;
    at = end;
  }
  if (!any || sign < 0) return {};
  return product;
}

/// The digits times 10^exponent, rounded once.
double decimal(std::string_view digits, int exponent) {
  const std::size_t e = digits.find_first_of("eE");
  int written = 0;
  if (e != std::string_view::npos) {
    std::string_view power = digits.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    std::from_chars(power.data(), power.data() + power.size(), written);
  }
  return std::strtod(fmt::format("{}e{}", digits.substr(0, e), written + exponent).c_str(), nullptr);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_physical(std::string_view unit) {
  return is_temperature(unit) || (!unit.empty() && unit != "1" && unit_of(unit).has_value());
}

std::string usual_units(std::string_view unit) {
  for (const Usual& u : usual)
    if (u.declared == unit) return std::string(u.others);
  return is_physical(unit) ? std::string(unit) : std::string();
}

std::vector<std::string_view> units_with_others() {
  std::vector<std::string_view> all;
  for (const Usual& u : usual) all.push_back(u.declared);
  return all;
}

Measured measured(std::string_view text, std::string_view unit) {
  const std::string_view whole = trimmed(text);
  const std::string allowed =
      fmt::format("write a number, in {0}, or a number with its unit: {1}", unit, usual_units(unit));
  std::string_view number = whole;
  if (number.starts_with('+')) number.remove_prefix(1);
  double plain = 0.0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), plain);
  if (failure != std::errc{} || !std::isfinite(plain))
    return {0.0, fmt::format("does not begin with a number; {}", allowed)};
  const std::size_t n = end - number.data();
  const std::string_view name = trimmed(number.substr(n));
  if (name.empty()) return {0.0, fmt::format("has no unit; {}", allowed)};
  if (is_temperature(unit)) {
    const auto* const given = std::ranges::find(temperatures, name, &TemperatureUnit::name);
    if (given == temperatures.end()) return {0.0, fmt::format("has an unknown unit, \"{}\"; {}", name, allowed)};
    constexpr double digits = 1e10;  // 333.15 K are 60 °C
    return {given->zero == 0.0 ? plain : std::round(digits * (plain + given->zero)) / digits, ""};
  }
  const std::optional<Unit> given = unit_of(name), wanted = unit_of(unit);
  if (!given) return {0.0, fmt::format("has an unknown unit, \"{}\"; {}", name, allowed)};
  if (given->dimension != wanted->dimension)
    return {0.0, fmt::format("has a unit of another quantity, \"{}\"; {}", name, allowed)};
  const double value = decimal(number.substr(0, n), given->exponent - wanted->exponent);
  return {given->factor == 1.0 ? value : value * given->factor, ""};
}

}  // namespace karst
