// SPDX-License-Identifier: BSD-3-Clause
// Parts of decks, most of them of chemistry, and decks from text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "app/deck/config.hpp"

namespace karst::test {

/// Acid displaces water.
inline constexpr const char* waters = R"(
[chemistry]
initial = "water"
inlet = "acid"
[[chemistry.solution]]
name = "water"
pH = 8
totals = ["Na 1e-2 charge", "Cl 1e-2"]
[[chemistry.solution]]
name = "acid"
pH = 3
totals = ["Na 1e-2", "Cl 1e-2 charge", "C(4) 1e-3"]
)";
inline constexpr const char* calcite = R"(
[[chemistry.mineral]]
phase = "Calcite"
wall = "grain"
rates = ["890 H+ 1", "0.5 CO2 1", "6.6e-4"]
)";

inline std::string sphere_solid(const Vec3& center, double radius, const std::string& mineral = "") {
  return fmt::format("[[geometry.solid]]\nshape = \"sphere\"\ncenter = [{}, {}, {}]\nradius = {}\n", center[0],
                     center[1], center[2], radius) +
         (mineral.empty() ? "" : "mineral = \"" + mineral + "\"\n");
}
/// n[0] × n[1] × n[2] cells of 1 m between an inlet and an outlet; lines of the grid may follow.
inline std::string cells_along_x(const Index& n) {
  return fmt::format("[grid]\ncells = [{0}, {1}, {2}]\nsize = [{0}, {1}, {2}]\nperiodic = [false, true, true]\n", n[0],
                     n[1], n[2]);
}
/// Creeping flow along x, with an estimate of its error or without.
inline const std::string estimated_flow = R"(
[flow]
model = "stokes"
drive = "velocity"
velocity = 0.5
axes = ["x"]
)";
inline const std::string creeping_flow = estimated_flow + "estimate_error = false\n";

inline Config config_of(const std::string& text) {
  Reader in = Reader::from_text(text);
  Config config = read_config(in);
  in.finish();
  return config;
}

}  // namespace karst::test
