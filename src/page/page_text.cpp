// SPDX-License-Identifier: BSD-3-Clause
#include "page/page_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {
namespace {

constexpr const char* narrow_space = "\u202f";

/// Puts a narrow space between groups of three digits in front of the point, from five digits on.
std::string grouped(const std::string& text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size()), digits = end - sign;
  if (digits < 5) return text;
  std::string out = text.substr(0, sign);
  for (std::size_t i = sign; i < end; ++i) {
    if (i > sign && (end - i) % 3 == 0) out += narrow_space;
    out += text[i];
  }
  return out + text.substr(end);
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        const bool control = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
        if (control) {
          out += "\ufffd";
        } else {
          out += c;
        }
      }
    }
  }
  return out;
}

std::int64_t letters_of(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
}

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 1e9) return fmt::format("{:.{}e}", value, digits - 1);
  const double unit = std::pow(10, std::floor(std::log10(size)) - digits + 1);
  const double rounded = std::round(value / unit) * unit;
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9));
  return grouped(fmt::format("{:.{}f}", rounded, std::max(0, digits - 1 - leading)));
}

std::string percent_text(double share) { return number_text(100 * share) + narrow_space + "%"; }

LengthUnit length_unit(double longest) {
  constexpr std::array<LengthUnit, 5> units{{{1e-9, "nm"}, {1e-6, "µm"}, {1e-3, "mm"}, {1, "m"}, {1e3, "km"}}};
  LengthUnit best = units[0];
  for (const LengthUnit& u : units)
    if (longest >= 2 * u.metres) best = u;
  return best;
}

std::string length_text(double metres) {
  if (metres == 0 || !std::isfinite(metres)) return number_text(metres) + narrow_space + "m";
  LengthUnit unit{1e-9, "nm"};
  for (const LengthUnit u : {LengthUnit{1e-6, "µm"}, LengthUnit{1e-3, "mm"}, LengthUnit{1, "m"}, LengthUnit{1e3, "km"}})
    if (std::abs(metres) >= 0.9995 * u.metres) unit = u;
  return number_text(metres / unit.metres) + narrow_space + unit.name;
}

std::string count_text(std::int64_t count) { return grouped(fmt::format("{}", count)); }

std::string count_text(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

}  // namespace karst
