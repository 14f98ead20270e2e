// SPDX-License-Identifier: BSD-3-Clause
// Reading a list of spheres (eb/shapes/sphere_list.hpp).
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "base/core/error.hpp"
#include "eb/shapes/sphere_list.hpp"

namespace karst {
namespace {

constexpr std::string_view separators = " \t\r,;";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(separators, end);
  }
  return words;
}

/// Where x, y, z and r stand; -1: not there.
struct Columns {
  std::array<int, 4> place{-1, -1, -1, -1};
  std::size_t count = 0;
};

Columns parse_columns(const SphereFile& file) {
  constexpr std::array<std::string_view, 4> names{"x", "y", "z", "r"};
  Columns columns;
  for (const std::string_view word : words_of(file.columns)) {
    const auto place = static_cast<int>(columns.count++);
    if (word == "index" || word == "_") continue;
    const auto found = std::find(names.begin(), names.end(), word);
    require(found != names.end(), "sphere file {}: columns = \"{}\" names \"{}\"; allowed are x, y, z, r, index and _",
            file.path, file.columns, word);
    int& now = columns.place[found - names.begin()];
    require(now < 0, "sphere file {}: columns = \"{}\" names {} twice; replace one of them by _", file.path,
            file.columns, word);
    now = place;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    require(columns.place[c] >= 0, "sphere file {}: columns = \"{}\" does not name {}; x, y and z are needed",
            file.path, file.columns, names[c]);
  }
  require(
      columns.place[3] >= 0 || file.radius > 0.0,
      "sphere file {}: columns = \"{}\" does not name r; name it, or give one radius > 0 for all spheres (it is {})",
      file.path, file.columns, file.radius);
  require(columns.place[3] < 0 || file.radius == 0.0,
          "sphere file {}: both a column r and radius = {} are given; replace the column by _ or remove radius",
          file.path, file.radius);
  return columns;
}

double parse_number(std::string_view word, const SphereFile& file, int line) {
  std::string_view digits = word;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  require(code == std::errc{} && end == digits.data() + digits.size() && std::isfinite(value),
          "sphere file {}, line {}: \"{}\" is not a finite number; skip header lines with skip_lines", file.path, line,
          word);
  return value;
}

Sphere parse_sphere(const std::vector<std::string_view>& words, const Columns& columns, const SphereFile& file,
                    int line) {
  require(words.size() == columns.count,
          "sphere file {}, line {}: {} values, but columns = \"{}\" names {}; name columns to ignore with _", file.path,
          line, words.size(), file.columns, columns.count);
  const auto value = [&](std::size_t c) { return parse_number(words[columns.place[c]], file, line); };
  Sphere sphere{file.scale * Vec3{value(0), value(1), value(2)} + file.shift, file.radius};
  if (columns.place[3] >= 0) sphere.radius = file.scale * value(3);
  require(sphere.radius > 0.0, "sphere file {}, line {}: the radius is {} m; it must be > 0", file.path, line,
          sphere.radius);
  return sphere;
}

}  // namespace

std::vector<Sphere> read_spheres(const SphereFile& file) {
  require(file.scale > 0.0, "sphere file {}: scale is {}; it must be > 0", file.path, file.scale);
  require(file.skip_lines >= 0, "sphere file {}: skip_lines is {}; it must be >= 0", file.path, file.skip_lines);
  const Columns columns = parse_columns(file);
  std::ifstream in(file.path);
  require(in.good(), "sphere file {}: cannot be opened for reading; check the name (relative to the deck) and rights",
          file.path);
  std::vector<Sphere> spheres;
  std::string text;
  int line = 0;
  while (std::getline(in, text)) {
    if (++line <= file.skip_lines) continue;
    const auto words = words_of(text);
    if (words.empty() || words.front().front() == '#') continue;
    spheres.push_back(parse_sphere(words, columns, file, line));
  }
  require(!in.bad() && in.eof(), "sphere file {}: reading failed after line {}; is it a regular file?", file.path,
          line);
  require(!spheres.empty(), "sphere file {}: no spheres in its {} lines (skip_lines = {})", file.path, line,
          file.skip_lines);
  return spheres;
}

}  // namespace karst
