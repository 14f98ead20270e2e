// SPDX-License-Identifier: BSD-3-Clause
#include "base/core/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace karst {

namespace {

/// Three significant digits without an exponent, for 0 <= |x| < 1024.
std::string three_digits(double x) {
  const double size = std::abs(x);
  if (size < 9.995) return fmt::format("{:.2f}", x);
  if (size < 99.95) return fmt::format("{:.1f}", x);
  return fmt::format("{:.0f}", x);
}

}  // namespace

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 7> prefixes{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t p = 0;
  double x = bytes;
  while (std::abs(x) >= 1023.5 && p + 1 < prefixes.size()) {
    x /= 1024.0;
    ++p;
  }
  return p == 0 ? fmt::format("{:.0f} B", x) : fmt::format("{} {}", three_digits(x), prefixes[p]);
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  if (seconds < 0.0) return fmt::format("-{}", format_seconds(-seconds));
  if (seconds < 99.95) return seconds == 0.0 ? "0 s" : format_si(seconds, "s");
  const double whole = std::round(seconds);
  if (whole < 3600.0) {
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(whole / 60.0), std::fmod(whole, 60.0));
  }
  const double minutes = std::round(seconds / 60.0);
  if (minutes < 1440.0) {
    return fmt::format("{:.0f} h {:02.0f} min", std::floor(minutes / 60.0), std::fmod(minutes, 60.0));
  }
  const double hours = std::round(seconds / 3600.0);
  return fmt::format("{:.0f} d {:02.0f} h", std::floor(hours / 24.0), std::fmod(hours, 24.0));
}

std::string format_si(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 13> prefixes{"a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
  if (value == 0.0 || !std::isfinite(value)) return fmt::format("{} {}", value, unit);
  int step = static_cast<int>(std::floor(std::log10(std::abs(value)) / 3.0));
  if (std::abs(value) * std::pow(1000.0, -step) >= 999.5) ++step;
  const int place = step + 6;
  if (place < 0 || place >= static_cast<int>(prefixes.size())) return fmt::format("{:.2e} {}", value, unit);
  const double scaled = step < 0 ? value * std::pow(1000.0, -step) : value / std::pow(1000.0, step);
  return fmt::format("{} {}{}", three_digits(scaled), prefixes[place], unit);
}

}  // namespace karst
