// SPDX-License-Identifier: BSD-3-Clause
#include "io/result_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/part_names.hpp"

namespace karst {

namespace {

/// Names of results: fixed ones, or BEGIN*END with any text for the star.
struct Pattern {
  std::string_view begin, end;
};
constexpr std::array<Pattern, 28> result_names{{{"summary.json", ""},      {"report.html", ""},
                                                {"geometry.vtkhdf", ""},   {"imported_image.h5", ""},
                                                {"inertia.csv", ""},       {"dynamic_permeability.csv", ""},
                                                {"dispersion.csv", ""},    {"history.csv", ""},
                                                {"transport.csv", ""},     {"profiles.csv", ""},
                                                {"chemistry.csv", ""},     {"wall.vtp", ""},
                                                {"evolution.csv", ""},     {"wall_events.csv", ""},
                                                {"output_", ".vtkhdf"},    {"output.vtkhdf.series", ""},
                                                {"slice_", ".vti"},        {"slice_", ".vti.series"},
                                                {"deck.toml", ""},         {"log.txt", ""},
                                                {"timers.txt", ""},        {"timers.json", ""},
                                                {"animation_", ".png"},    {"plot", ".vtkhdf"},
                                                {"moved_wall", ".vtp"},    {"moved_wall.vtp.series", ""},
                                                {"moved_geometry", ".h5"}, {"moved_geometry.h5.series", ""}}};

}  // namespace

bool is_result_name(const std::string& file) {
  if (file.find('/') != std::string::npos) return false;
  const std::string name = whole_of(file);
  return std::ranges::any_of(result_names, [&](const Pattern& p) {
    if (p.end.empty()) return name == p.begin;
    return name.size() >= p.begin.size() + p.end.size() && name.starts_with(p.begin) && name.ends_with(p.end);
  });
}

}  // namespace karst
