// SPDX-License-Identifier: BSD-3-Clause
// Text for pages: escaping, numbers with units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace karst {

/// For text and attributes of HTML and SVG: & < > " ' become entities, control characters U+FFFD.
std::string escape_html(std::string_view text);

/// Letters of UTF-8.
std::int64_t letters_of(std::string_view text);

/// Significant digits without an exponent from 1e-4 to 1e9, groups of three digits separated by a narrow space; "–" if
/// not finite.
std::string number_text(double value, int digits = 3);

/// 0.3521 -> "35.2 %".
std::string percent_text(double share);

/// Unit that gives lengths up to `longest` [m] readable numbers.
struct LengthUnit {
  double metres;
  const char* name;
};
LengthUnit length_unit(double longest);

/// 5.3e-6 -> "5.30 µm".
std::string length_text(double metres);

/// 12345 -> "12 345"; with words "1 throat", "2 throats".
std::string count_text(std::int64_t count);
std::string count_text(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace karst
