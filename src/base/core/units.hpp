// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units, "5.3 um": accepted in decks and on the command line for keys with an SI unit. A unit is a product
// of named ones with powers, "kg/m3", "mPa s", "bar/cm"; prefixes from nano to giga go with all that take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace karst {

/// A number with a unit as the number of the unit that a key is declared with: SI, or °C of temperatures.
struct Measured {
  double value = 0.0;
  std::string problem;  ///< error message with the allowed forms; empty if the text is valid
};

/// True when a key that is declared with this unit may be written with others: "m", "Pa s"; not "-" or "voxels".
bool is_physical(std::string_view unit);

/// "5.3 um" -> 5.3e-6, bitwise equal to the TOML number 5.3e-6. Not collective.
/// @param text  a number, then its unit: "5.3 um", "5.3um", "-2e-1 bar/cm"
/// @param unit  physical, of the declaration
Measured measured(std::string_view text, std::string_view unit);

/// Units that are usual for a declared one, for help and messages: "mm, um, nm, m"; empty without a physical unit.
std::string usual_units(std::string_view unit);

/// All declared units that have usual ones, for the documentation of decks.
std::vector<std::string_view> units_with_others();

}  // namespace karst
