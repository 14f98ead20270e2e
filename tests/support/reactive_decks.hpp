// SPDX-License-Identifier: BSD-3-Clause
// Parts of decks with chemistry, and decks from text.
#pragma once

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

inline Config config_of(const std::string& text) {
  Reader in = Reader::from_text(text);
  Config config = read_config(in);
  in.finish();
  return config;
}

}  // namespace karst::test
